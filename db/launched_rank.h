// Which rank a process is, as its launcher told it.
#pragma once

#include <functional>
#include <optional>

namespace pitwall {

// What an environment says of a variable; null when it is not set. std::getenv is one.
using EnvironmentLookup = std::function<const char*(const char*)>;

// The rank that Open MPI, PMIx, MPICH, Intel MPI, MVAPICH, Slurm or torchrun gave a process; none when no
// variable of theirs holds a whole number from 0. Where several do, the first in this order counts.
std::optional<int> launchedRank(const EnvironmentLookup& lookup);

}  // namespace pitwall
