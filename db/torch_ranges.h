// What the names of the ranges that PyTorch writes around its operators mean.
#pragma once

#include <string_view>

#include "db/event.h"

namespace pitwall {

// The end of a row's name that holds ranges with the values of hardware counters, one for each kernel.
inline constexpr std::string_view kCountedRanges = "counted ranges";

// CUPTI's hardware counter of the achieved occupancy: the warps that were active, in percent of those that fit. The row
// of a device's counter is "gpu 0: NAME", with a sample at the start of each counted range.
inline constexpr std::string_view kWarpsActive = "sm__warps_active.avg.pct_of_peak_sustained_active";

// Ranges around steps, loading and optimizers, which PyTorch names itself; in versions before 1.9 they have the form of
// operators.
bool isTorchRange(std::string_view name);

// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__": the program waits for its next batch.
bool isTorchDataWait(std::string_view name);
// A collective that a thread of the process carries out, of the backends gloo, mpi and ucc; those of nccl only launch kernels.
bool isTorchCollective(std::string_view name);

// "autograd::engine::evaluate_function: AddmmBackward0": autograd computes gradients.
bool isTorchBackward(std::string_view name);

// Of the operators within a range: the optimizer's, or one that the program itself names "forward", "backward",
// "zero_grad". Phase::none for other names.
Phase phaseOfTorchRange(std::string_view name);

}  // namespace pitwall
