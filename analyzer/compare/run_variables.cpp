#include "analyzer/compare/run_variables.h"

#include <algorithm>

namespace pitwall::comparing {
namespace {

constexpr std::string_view kNames[] = {"_",
                                       "PWD",
                                       "OLDPWD",
                                       "SHLVL",
                                       "TMUX",
                                       "TMUX_PANE",
                                       "STY",
                                       "WINDOWID",
                                       "DISPLAY",
                                       "XDG_SESSION_ID",
                                       "XDG_RUNTIME_DIR",
                                       "INVOCATION_ID",
                                       "JOURNAL_STREAM",
                                       "PITWALL_TRACE",
                                       "RANK",
                                       "LOCAL_RANK",
                                       "GROUP_RANK",
                                       "ROLE_RANK",
                                       "MASTER_ADDR",
                                       "MASTER_PORT",
                                       "TORCHELASTIC_RUN_ID",
                                       "MV2_COMM_WORLD_RANK",
                                       "MV2_COMM_WORLD_LOCAL_RANK"};
constexpr std::string_view kFamilies[] = {"SSH_", "PMI_", "PMIX_", "OMPI_", "SLURM_"};
constexpr std::string_view kParameters[] = {"CPUS",  "GPUS",       "MEM_",      "TASKS",
                                            "NODES", "WORLD_SIZE", "LOCAL_SIZE"};

}  // namespace

bool namesTheRun(std::string_view variable) {
  if (std::ranges::find(kNames, variable) != std::end(kNames)) return true;
  const auto begins = [&](std::string_view family) { return variable.starts_with(family); };
  if (std::ranges::none_of(kFamilies, begins)) return false;
  if (begins("OMPI_MCA_") || begins("PMIX_MCA_"))  // the user's, but those of its runtime environment
    return begins("OMPI_MCA_orte_") || begins("OMPI_MCA_ess") || begins("OMPI_MCA_initial_wdir");
  if (variable.ends_with("NODELIST")) return true;
  return std::ranges::none_of(kParameters,
                              [&](std::string_view word) { return variable.find(word) != variable.npos; });
}

}  // namespace pitwall::comparing
