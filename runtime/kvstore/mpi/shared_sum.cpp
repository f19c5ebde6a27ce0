#include "runtime/kvstore/mpi/shared_sum.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"
#include "runtime/kvstore/sum.h"

namespace pitwall::kvstore::mpi {
namespace {

constexpr std::size_t kLine = 128;  // bytes that processors exchange

using Count = std::atomic<std::uint64_t>;
static_assert(Count::is_always_lock_free);  // ranks share them

// Whether it holds on all ranks.
Result<bool> onAll(MPI_Comm communicator, bool here) {
  int mine = here ? 1 : 0, all = 0;
  PITWALL_TRY(check(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, communicator), "MPI_Allreduce"));
  return all != 0;
}

Result<bool> shareMemory(MPI_Comm communicator) {
  MPI_Comm near = MPI_COMM_NULL;
  PITWALL_TRY(check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near),
                    "MPI_Comm_split_type"));
  int all = 0, here = 0;
  MPI_Comm_size(communicator, &all);
  MPI_Comm_size(near, &here);
  MPI_Comm_free(&near);
  return onAll(communicator, here == all);
}

}  // namespace

struct SharedSum::Shared {
  alignas(kLine) Count counts[kSteps];  // blocks that have taken this step
  alignas(kLine) float slots[kSlots][kSlotElements];
};

Result<std::unique_ptr<RankSum>> SharedSum::open(MPI_Comm communicator, bool wanted) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  if (size == 1 || !PITWALL_TRY(onAll(communicator, wanted))) return std::unique_ptr<RankSum>();
  if (!PITWALL_TRY(shareMemory(communicator))) return std::unique_ptr<RankSum>();
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  // A line more: MPI aligns to less.
  const bool made = MPI_Win_allocate_shared(sizeof(Shared) + kLine, 1, MPI_INFO_NULL, communicator, &memory,
                                            &window) == MPI_SUCCESS;
  if (!PITWALL_TRY(onAll(communicator, made))) return std::unique_ptr<RankSum>();
  PITWALL_TRY(check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all"));
  std::unique_ptr<RankSum> opened(new SharedSum(communicator, window));
  PITWALL_TRY(check(MPI_Barrier(communicator), "MPI_Barrier"));  // all counts are 0
  return opened;
}

SharedSum::SharedSum(MPI_Comm communicator, MPI_Win window) : window_(window) {
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  rank_ = static_cast<std::size_t>(rank);
  for (int i = 0; i < size; ++i) {
    MPI_Aint bytes = 0;
    int unit = 1;
    void* memory = nullptr;
    MPI_Win_shared_query(window, i, &bytes, &unit, &memory);
    auto space = static_cast<std::size_t>(bytes);
    ranks_.push_back(static_cast<Shared*>(std::align(kLine, sizeof(Shared), memory, space)));
  }
  new (ranks_[rank_]) Shared;
}

void SharedSum::close() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

Status SharedSum::start(std::span<const SummedArray> arrays) {
  arrays_.assign(arrays.begin(), arrays.end());
  begins_.clear();
  elements_ = 0;
  for (const SummedArray& array : arrays_) {
    begins_.push_back(elements_);
    elements_ += array.data.size();
  }
  first_ = end_;
  end_ = first_ + (elements_ + kSlotElements - 1) / kSlotElements;
  return {};
}

std::uint64_t SharedSum::leastOfAll(Step step) const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Shared* rank : ranks_)
    least = std::min(least, rank->counts[step].load(std::memory_order_acquire));
  return least;
}

void SharedSum::publish(Step step) {
  ranks_[rank_]->counts[step].store(++counts_[step], std::memory_order_release);
}

float* SharedSum::slot(std::size_t rank, std::uint64_t block) const {
  return ranks_[rank]->slots[block % kSlots];
}

std::size_t SharedSum::elementsOf(std::uint64_t block) const {
  return std::min(kSlotElements, elements_ - (block - first_) * kSlotElements);
}

std::size_t SharedSum::beginOfPart(std::uint64_t block, std::size_t rank) const {
  return elementsOf(block) * rank / ranks_.size();
}

// Calls use(Piece) for the arrays' parts between two places of the block.
template <typename Use>
void SharedSum::forPieces(std::uint64_t block, std::size_t begin, std::size_t end, const Use& use) const {
  const std::size_t block_begin = (block - first_) * kSlotElements;
  std::size_t at = block_begin + begin;
  const std::size_t last = block_begin + end;
  auto array = static_cast<std::size_t>(std::ranges::upper_bound(begins_, at) - begins_.begin()) - 1;
  for (; at < last; ++array) {
    const std::size_t within = at - begins_[array],
                      count = std::min(arrays_[array].data.size() - within, last - at);
    float* const output = arrays_[array].output;
    if (count > 0)
      use(Piece{arrays_[array].data.data() + within, output == nullptr ? nullptr : output + within,
                at - block_begin, count});
    at += count;
  }
}

// All but the own part, which no other rank sums.
void SharedSum::copyIn(std::uint64_t block) {
  const auto copy = [this, block](const Piece& piece) {
    std::copy_n(piece.data, piece.count, slot(rank_, block) + piece.begin);
  };
  forPieces(block, 0, beginOfPart(block, rank_), copy);
  forPieces(block, beginOfPart(block, rank_ + 1), elementsOf(block), copy);
}

// The sum goes where the own part would be in the own memory: no other rank reads that before it is counted.
void SharedSum::sumPart(std::uint64_t block) {
  forPieces(block, beginOfPart(block, rank_), beginOfPart(block, rank_ + 1),
            [this, block](const Piece& piece) {
              inputs_.clear();
              for (std::size_t i = 0; i < ranks_.size(); ++i)
                inputs_.push_back(i == rank_ ? piece.data : slot(i, block) + piece.begin);
              sumArrays(inputs_, slot(rank_, block) + piece.begin, static_cast<std::int64_t>(piece.count),
                        {.threads = 1});
            });
}

// The second array is not read before the next sum, or all of them are in a cache.
void SharedSum::copyOut(std::uint64_t block) {
  const bool is_large = end_ - first_ > kSlots;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    forPieces(block, beginOfPart(block, i), beginOfPart(block, i + 1),
              [this, block, i, is_large](const Piece& piece) {
                const float* const sum = slot(i, block) + piece.begin;
                std::copy_n(sum, piece.count, piece.data);
                if (piece.output == nullptr) return;
                if (is_large)
                  copyPastCaches(sum, piece.output, static_cast<std::int64_t>(piece.count));
                else
                  std::copy_n(sum, piece.count, piece.output);
              });
}

// Takes the step for the next block, if that may be. A block's memory is free when all ranks have copied out of it.
bool SharedSum::tryStep(Step step) {
  const std::uint64_t block = counts_[step];
  if (block == end_) return false;
  const bool may = step == copiedIn ? block < kSlots || leastOfAll(copiedOut) > block - kSlots
                   : step == summed ? leastOfAll(copiedIn) > block
                                    : leastOfAll(summed) > block;
  if (!may) return false;
  if (step == copiedIn) copyIn(block);
  if (step == summed) sumPart(block);
  if (step == copiedOut) copyOut(block);
  publish(step);
  return true;
}

Result<bool> SharedSum::test() {
  for (std::size_t i = 0; i < kMostBlocksAtOnce; ++i) {
    const bool in = tryStep(copiedIn), sum = tryStep(summed), out = tryStep(copiedOut);
    if (!in && !sum && !out) break;
  }
  return counts_[copiedOut] == end_;
}

}  // namespace pitwall::kvstore::mpi
