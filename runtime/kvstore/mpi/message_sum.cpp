#include "runtime/kvstore/mpi/message_sum.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {

void MessageSum::pack() {
  packed_.clear();
  for (const SummedArray& array : small_) packed_.insert(packed_.end(), array.data.begin(), array.data.end());
}

// Small arrays are copied to one buffer; large ones, and one alone, are summed where they are.
Status MessageSum::start(std::span<const SummedArray> arrays) {
  std::vector<SummedArray> on_ring;
  small_.clear();
  packed_.clear();
  for (const SummedArray& array : arrays)
    (ring_.suits(static_cast<std::int64_t>(array.data.size())) ? on_ring : small_).push_back(array);
  on_ring_ = !on_ring.empty();
  std::span<float> only;
  if (small_.size() == 1 && !on_ring_) {
    only = small_.front().data;
  } else if (!small_.empty()) {
    pack();
    only = packed_;
    if (on_ring_) on_ring.push_back({only, nullptr});
  }
  if (on_ring_) return ring_.start(on_ring);
  return check(MPI_Iallreduce(MPI_IN_PLACE, only.data(), static_cast<int>(only.size()), MPI_FLOAT, MPI_SUM,
                              communicator_, &request_),
               "MPI_Iallreduce");
}

Result<bool> MessageSum::isDone() {
  if (on_ring_) return ring_.test();
  int done = 0;
  PITWALL_TRY(check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  return done != 0;
}

Result<bool> MessageSum::test() {
  if (!PITWALL_TRY(isDone())) return false;
  copySums();
  return true;
}

void MessageSum::copySums() {
  const float* next = packed_.data();
  for (const SummedArray& array : small_) {
    if (!packed_.empty()) {
      std::copy_n(next, array.data.size(), array.data.data());
      next += array.data.size();
    }
    if (array.output != nullptr) std::ranges::copy(array.data, array.output);
  }
}

}  // namespace pitwall::kvstore::mpi
