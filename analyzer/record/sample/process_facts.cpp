#include "analyzer/record/sample/process_facts.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "db/cgroup.h"
#include "db/host_facts.h"
#include "db/meta.h"
#include "db/redact.h"
#include "db/settings.h"
#include "db/usable_cpus.h"

namespace pitwall::record {
namespace {

constexpr std::size_t kLongestValue = 4096;  // of a variable; longer values are truncated

// The leading number of the first of these variables that has one ("4" or "4,2" for nested regions); 0 = none
// has one.
int threadsIn(const ProcessFacts& facts, std::initializer_list<std::string_view> names) {
  for (const std::string_view wanted : names) {
    for (const auto& [name, value] : facts.environment) {
      int threads = 0;
      if (name == wanted &&
          std::from_chars(value.data(), value.data() + value.size(), threads).ec == std::errc() &&
          threads > 0) {
        return threads;
      }
    }
  }
  return 0;
}

// As the libraries read the environment: their own variable, else OpenMP's, else the number of CPUs that the
// process may use.
std::string threadsOf(const ProcessFacts& facts, std::initializer_list<std::string_view> names) {
  const int threads = threadsIn(facts, names);
  const int number = threads > 0 ? threads : static_cast<int>(facts.affinity.size());
  return number > 0 ? std::to_string(number) : "";
}

std::string openMpThreads(const ProcessFacts& facts) { return threadsOf(facts, {"OMP_NUM_THREADS"}); }

std::string blasThreads(const ProcessFacts& facts) {
  if (facts.blas == "mkl") return threadsOf(facts, {"MKL_NUM_THREADS", "OMP_NUM_THREADS"});
  if (facts.blas == "openblas")
    return threadsOf(facts, {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"});
  if (facts.blas == "blis") {
    // Without its own variable BLIS runs one thread.
    const int threads = threadsIn(facts, {"BLIS_NUM_THREADS", "OMP_NUM_THREADS"});
    return std::to_string(std::max(1, threads));
  }
  if (facts.blas == "reference") return "1";
  return {};  // ATLAS has a fixed number, set when it is built
}

void writeLimits(TraceSink& sink, pid_t pid, const ProcessFacts& facts) {
  const auto quota = host::cgroupCpus(pid);
  if (quota) sink.meta(meta::kCgroupCpus, std::to_string(*quota));
  if (const auto memory = host::cgroupMemory(pid)) sink.meta(meta::kCgroupMemory, std::to_string(*memory));
  if (facts.affinity.empty()) return;
  sink.meta(meta::kUsableCpus, std::to_string(host::usableCpus(facts.affinity.size(), quota)));
  sink.meta(meta::kAffinity, cpuListText(facts.affinity));
  if (const int cores = host::coresOf(facts.affinity); cores > 0)
    sink.meta(meta::kUsableCores, std::to_string(cores));
}

void writeEnvironment(TraceSink& sink, const ProcessFacts& facts) {
  for (const auto& [name, value] : facts.environment) {
    // Truncated last: of a part of a secret it cannot be seen that it is one.
    const std::string shown = redactValue(name, value).substr(0, kLongestValue);
    sink.meta(meta::kEnvironmentPrefix + name, shown);
    if (!value.empty() && findSetting(name) != nullptr) {
      sink.setting({name, shown, SettingSource::environment});
    }
  }
}

}  // namespace

std::string cpuListText(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (last > i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

void writeProcessFacts(TraceSink& sink, pid_t pid, const ProcessFacts& facts) {
  writeLimits(sink, pid, facts);
  sink.meta(meta::kOpenMpRuntime, facts.openmp_runtimes.empty() ? "none" : facts.openmp_runtimes);
  if (!facts.openmp_runtimes.empty()) {
    if (const std::string threads = openMpThreads(facts); !threads.empty()) {
      sink.meta(meta::kOpenMpThreads, threads);
    }
  }
  if (!facts.blas.empty()) {
    sink.meta(meta::kBlas, facts.blas);
    if (const std::string threads = blasThreads(facts); !threads.empty())
      sink.meta(meta::kBlasThreads, threads);
  }
  writeEnvironment(sink, facts);
}

}  // namespace pitwall::record
