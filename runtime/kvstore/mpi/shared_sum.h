// Sums over ranks of one machine, through memory that they share: no call of MPI, no message.
//
// The arrays of a sum, one after the other, are cut into blocks. Each rank copies its block to its own shared memory, sums one part of
// the block from the memory of all ranks, and copies the summed parts of the others back. Each counts its blocks at each of these steps
// where the others see it. A few blocks are on their way at once; they stay in a processor's cache.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/kvstore/mpi/rank_sum.h"

namespace pitwall::kvstore::mpi {

class SharedSum final : public RankSum {
 public:
  // Called by all ranks, which get the same answer: nullptr where they do not share memory, or one of them does not want to. Errors: io
  // with MPI's text.
  static Result<std::unique_ptr<RankSum>> open(MPI_Comm communicator, bool wanted);

  const char* name() const override { return "sum in shared memory"; }
  Status start(std::span<const SummedArray> arrays) override;
  Result<bool> test() override;
  void close() override;

 private:
  enum Step : std::uint8_t { copiedIn, summed, copiedOut };
  static constexpr std::size_t kSteps = 3;
  static constexpr std::size_t kSlots = 4;                      // blocks on their way at once
  static constexpr std::size_t kSlotElements = 32768;           // 128 KB
  static constexpr std::size_t kMostBlocksAtOnce = 2 * kSlots;  // of one call of test()

  struct Shared;  // what one rank shares
  // A part of an array, as a part of a block.
  struct Piece {
    float* data;
    float* output;
    std::size_t begin;  // in the block
    std::size_t count;
  };

  SharedSum(MPI_Comm communicator, MPI_Win window);
  std::uint64_t leastOfAll(Step step) const;
  bool tryStep(Step step);
  void publish(Step step);
  void copyIn(std::uint64_t block);
  void sumPart(std::uint64_t block);
  void copyOut(std::uint64_t block);
  // Elements of the sum that the block has, and where each rank's part of it begins.
  std::size_t elementsOf(std::uint64_t block) const;
  std::size_t beginOfPart(std::uint64_t block, std::size_t rank) const;
  float* slot(std::size_t rank, std::uint64_t block) const;
  template <typename Use>
  void forPieces(std::uint64_t block, std::size_t begin, std::size_t end, const Use& use) const;

  MPI_Win window_;
  std::size_t rank_ = 0;
  std::vector<Shared*> ranks_;
  std::vector<SummedArray> arrays_;
  std::vector<std::size_t> begins_;    // of each array, in the sum
  std::size_t elements_ = 0;           // of the sum
  std::uint64_t first_ = 0, end_ = 0;  // blocks of the sum: numbers go on from sum to sum
  std::array<std::uint64_t, kSteps> counts_{};
  std::vector<const float*> inputs_;
};

}  // namespace pitwall::kvstore::mpi
