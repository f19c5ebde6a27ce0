// The rank of a process, as set by its launcher.
#pragma once

#include <functional>
#include <optional>

namespace pitwall {

// Looks up an environment variable; null when it is not set. std::getenv is one.
using EnvironmentLookup = std::function<const char*(const char*)>;

// The rank that Open MPI, PMIx, MPICH, Intel MPI, MVAPICH, Slurm or torchrun gave a process; none when none
// of their variables holds an integer of at least 0. Where several do, the first in this order is used.
std::optional<int> launchedRank(const EnvironmentLookup& lookup);

}  // namespace pitwall
