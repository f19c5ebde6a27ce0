#include "runtime/kvstore/mpi/ring_sum.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"
#include "runtime/kvstore/sum.h"

namespace pitwall::kvstore::mpi {
namespace {

constexpr int kRingTag = 2;
constexpr std::int64_t kLeastElements = 8192;  // of a part: 32 KB

}  // namespace

RingSum::RingSum(MPI_Comm communicator) : communicator_(communicator) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
}

bool RingSum::suits(std::int64_t elements) const { return size_ > 1 && elements / size_ >= kLeastElements; }

Status RingSum::start(float* data, std::int64_t elements) {
  data_ = data;
  elements_ = elements;
  step_ = 0;
  const auto largest = static_cast<std::size_t>(elements / size_ + 1);
  if (received_.size() < largest) received_.resize(largest);
  return beginStep();
}

Status RingSum::beginStep() {
  const int next = around(rank_ + 1), before = around(rank_ - 1);
  const bool sums = step_ < size_ - 1;
  const int sent = around(sums ? rank_ - step_ : rank_ + 1 - (step_ - (size_ - 1)));
  const int coming = around(sent - 1);
  float* const into = sums ? received_.data() : partAt(coming);
  PITWALL_TRY(check(MPI_Irecv(into, static_cast<int>(countOf(coming)), MPI_FLOAT, before, kRingTag,
                              communicator_, &requests_[0]),
                    "MPI_Irecv"));
  return check(MPI_Isend(partAt(sent), static_cast<int>(countOf(sent)), MPI_FLOAT, next, kRingTag,
                         communicator_, &requests_[1]),
               "MPI_Isend");
}

Result<bool> RingSum::test() {
  int done = 0;
  PITWALL_TRY(check(MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE), "MPI_Testall"));
  if (done == 0) return false;
  if (step_ < size_ - 1) {
    const int part = around(rank_ - step_ - 1);
    const float* const both[] = {received_.data(), partAt(part)};
    sumArrays(both, partAt(part), countOf(part), {.threads = 1});
  }
  if (++step_ == 2 * (size_ - 1)) return true;
  PITWALL_TRY(beginStep());
  return false;
}

}  // namespace pitwall::kvstore::mpi
