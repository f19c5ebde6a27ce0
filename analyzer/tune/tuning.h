// One search, from the first recorded run to the files with its result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/record/run/signals.h"
#include "analyzer/report.h"
#include "analyzer/tune.h"
#include "analyzer/tune/folder_lock.h"
#include "analyzer/tune/history.h"
#include "analyzer/tune/program.h"
#include "analyzer/tune/search.h"
#include "db/result.h"

namespace pitwall::tuning {

// run() is called once.
class Tuning {
 public:
  Tuning(const TuneOptions& options, const TuneProgress& progress) : options_(options), progress_(progress) {}
  Result<TuneOutcome> run();

 private:
  Status prepare();
  Status runFirst();
  Status readFindings();
  std::vector<Candidate> allCandidates();
  Status replay();
  Status search();
  Result<bool> runOne(const Run& run, int number);
  void awaitQuietMachine();
  Status recordBest();
  Status writeResults();
  void saveStatuses();
  void addToUsersLedger();

  void note(const std::string& text) const;
  void say(const Run& run) const;
  void fillRows();
  void noteMachine();

  const TuneOptions& options_;
  const TuneProgress& progress_;
  std::string folder_;  // absolute
  record::BlockedSignals signals_;
  std::vector<Parameter> parameters_;
  std::optional<FolderLock> lock_;
  std::optional<History> history_;
  std::unique_ptr<Program> program_;
  Report report_;                         // of the first run
  std::map<std::string, Limits> limits_;  // of its tunables
  std::unique_ptr<Search> search_;
  double waited_s_ = 0;  // for other programs
  int waited_round_ = 0;
  TuneOutcome outcome_;
};

// The rows of a search as users see them.
TuneRow rowOf(const Search& search, std::size_t candidate, const Metric& metric);

// "best so far: A=1, 1.14x (1.11x to 1.16x)"; "" = nothing is known yet.
std::string knownSoFar(const Search& search);

// The text of best.env.
std::string bestEnvironment(const TuneOutcome& outcome, const Assignments& environment,
                            const Assignments& in_command);

}  // namespace pitwall::tuning
