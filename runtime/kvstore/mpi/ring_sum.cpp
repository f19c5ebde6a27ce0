#include "runtime/kvstore/mpi/ring_sum.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"
#include "runtime/kvstore/sum.h"

namespace pitwall::kvstore::mpi {
namespace {

constexpr int kFirstRingTag = 2;
constexpr std::int64_t kLeastElements = 8192;  // of a part: 32 KB
constexpr std::int64_t kMostElements = 65536;  // of a part: 256 KB

SummedArray partOfArray(const SummedArray& array, std::size_t begin, std::size_t end) {
  return {array.data.subspan(begin, end - begin), array.output == nullptr ? nullptr : array.output + begin};
}

}  // namespace

RingSum::RingSum(MPI_Comm communicator) : communicator_(communicator) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
}

bool RingSum::suits(std::int64_t elements) const { return size_ > 1 && elements / size_ >= kLeastElements; }

int RingSum::tagOf(const Lane& lane) const { return kFirstRingTag + static_cast<int>(&lane - lanes_.data()); }

SummedArray RingSum::partOf(const Lane& lane, int part) const {
  const std::size_t elements = lane.block.data.size();
  const auto edge = [&](int number) {
    return elements * static_cast<std::size_t>(number) / static_cast<std::size_t>(size_);
  };
  return partOfArray(lane.block, edge(part), edge(part + 1));
}

Status RingSum::start(std::span<const SummedArray> arrays) {
  blocks_.clear();
  const auto most = static_cast<std::size_t>(size_ * kMostElements);
  for (const SummedArray& array : arrays) {
    const std::size_t elements = array.data.size(), count = (elements + most - 1) / most;
    for (std::size_t i = 0; i < count; ++i)
      blocks_.push_back(partOfArray(array, elements * i / count, elements * (i + 1) / count));
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    lanes_[i].next = i;
    PITWALL_TRY(beginBlock(lanes_[i]));
  }
  return {};
}

int RingSum::leavingAt(int step) const {
  return around(step < size_ - 1 ? rank_ - step : rank_ + 1 - (step - (size_ - 1)));
}

Status RingSum::beginBlock(Lane& lane) {
  lane.block = {};
  if (lane.next >= blocks_.size()) return {};
  lane.block = blocks_[lane.next];
  lane.next += kLanes;
  lane.step = 0;
  return beginStep(lane);
}

Status RingSum::beginStep(Lane& lane) {
  const int next = around(rank_ + 1), before = around(rank_ - 1), tag = tagOf(lane);
  const bool sums = lane.step < size_ - 1;
  const int leaving = leavingAt(lane.step);
  const std::span<float> sent = partOf(lane, leaving).data, coming = partOf(lane, around(leaving - 1)).data;
  if (sums && lane.received.size() < coming.size()) lane.received.resize(coming.size());
  PITWALL_TRY(check(MPI_Irecv(sums ? lane.received.data() : coming.data(), static_cast<int>(coming.size()),
                              MPI_FLOAT, before, tag, communicator_, &lane.requests[0]),
                    "MPI_Irecv"));
  return check(MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_FLOAT, next, tag, communicator_,
                         &lane.requests[1]),
               "MPI_Isend");
}

Status RingSum::endStep(Lane& lane) {
  const SummedArray part = partOf(lane, around(leavingAt(lane.step) - 1));
  if (lane.step < size_ - 1) {
    const std::span<float> sum = part.data;
    const float* const both[] = {lane.received.data(), sum.data()};
    sumArrays(both, sum.data(), static_cast<std::int64_t>(sum.size()), {.threads = 1});
  }
  // Complete, and still in the cache.
  if (lane.step >= size_ - 2 && part.output != nullptr) std::ranges::copy(part.data, part.output);
  return ++lane.step < 2 * (size_ - 1) ? beginStep(lane) : beginBlock(lane);
}

Result<bool> RingSum::test() {
  for (Lane& lane : lanes_) {
    if (lane.block.data.empty()) continue;
    int done = 0;
    PITWALL_TRY(check(MPI_Testall(2, lane.requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall"));
    if (done != 0) PITWALL_TRY(endStep(lane));
  }
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.block.data.empty(); });
}

}  // namespace pitwall::kvstore::mpi
