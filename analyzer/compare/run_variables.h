// Environment variables that name a run, its session or its place, and therefore differ between runs whatever their settings.
#pragma once

#include <string_view>

namespace pitwall::comparing {

// Of shells and sessions, of launchers (Open MPI, PMI and PMIx, Slurm, torchrun), and of the recorder. A launcher's variables that say how
// much a process may use are none of them: SLURM_CPUS_PER_TASK, OMPI_MCA_btl.
bool namesTheRun(std::string_view variable);

}  // namespace pitwall::comparing
