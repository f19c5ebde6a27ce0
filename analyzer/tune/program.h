// The program under test: its command line with a trial's values, how it is run and recorded, and its metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/record/run/signals.h"
#include "analyzer/tune.h"
#include "analyzer/tune/candidate.h"
#include "analyzer/tune/metric.h"
#include "analyzer/tune/search.h"
#include "analyzer/tune/trial.h"
#include "db/result.h"

namespace pitwall::tuning {

class Program {
 public:
  // All of them outlive this object. `folder` is absolute.
  Program(const TuneOptions& options, const std::vector<Parameter>& parameters, std::string folder,
          const record::BlockedSignals& signals)
      : options_(options), parameters_(parameters), folder_(std::move(folder)), signals_(signals) {}

  // Runs the program as `pitwall record` does, into FOLDER/NAME.pitwall; `name` is also {TRIAL}. The cause of a failure is in the
  // result. Errors: those of runTrial and, with a launcher, of the import that makes one trace of the ranks'.
  Result<TrialEnd> record(const std::string& name, const Assignments& settings);

  // Chooses the metric from the options, and what the recorded first run shows. Errors: notFound, naming the remedy.
  Status chooseMetric(const TrialEnd& first);
  const Metric& metric() const { return metric_; }

  // One trial; `pad` is the length of a variable that makes environments of one round equally long. nullopt: interrupted.
  Result<std::optional<RunResult>> measure(int number, const Assignments& settings, std::size_t pad);

  std::vector<std::string> commandWith(const Assignments& settings, const std::string& trial) const;
  // The part of `settings` that goes into the environment.
  Assignments environmentOf(const Assignments& settings) const;
  std::string tracePath(const std::string& name) const { return folder_ + "/" + name + ".pitwall"; }
  std::string logPath(const std::string& name) const { return folder_ + "/" + name + ".log"; }
  void setTimeout(double seconds) { most_seconds_ = seconds; }

 private:
  enum class Detail { full, marks };
  Result<TrialEnd> run(const std::string& name, const Assignments& settings, std::optional<Detail> recording,
                       std::size_t pad);
  void takeMetric(const TrialEnd& end, const std::string& name, RunResult& result) const;

  const TuneOptions& options_;
  const std::vector<Parameter>& parameters_;
  std::string folder_;
  const record::BlockedSignals& signals_;
  Metric metric_;
  double most_seconds_ = 0;
};

}  // namespace pitwall::tuning
