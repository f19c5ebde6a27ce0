// Decides what to run next, and what follows from the runs so far: a function of the options and of the results, in their order.
// An interrupted search continues by giving a new Search the old results again. Runs nothing itself.
//
// 1. Screening, where there are more than four candidates or several of a group: in each round the unchanged program and the candidates run once. A
//    group (the values of one parameter, one rule's proposals) loses those that are 10 % behind its best, and every second round
//    the worse half; a range of numbers that is down to one gets the values halfway to those beside it. Screening results are never reported as a gain: the best of many is
//    partly luck.
// 2. Confirmation, on new runs: the best of each group, at most four and as many as the budget can confirm. A candidate leaves when its interval decides, when no gain is
//    in sight, or after twenty pairs. All intervals together are wrong with 5 %.
// 3. Combination: the best one is kept; each further confirmed one stays if it adds to what is kept, in pairs of the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/tune/candidate.h"
#include "analyzer/tune/paired.h"

namespace pitwall::tuning {

struct SearchOptions {
  std::uint64_t seed = 1;                                     // of the order of runs
  double budget_s = std::numeric_limits<double>::infinity();  // of all runs together
  int most_runs = std::numeric_limits<int>::max();
  double spent_s = 0;       // before the first run
  double alpha = 0.05;      // share of searches that may report a gain where there is none
  double min_gain = 0.01;   // a smaller gain is not worth a setting
  double within = 0.005;    // how much worse the metric to keep may be, relative
  bool keep_lower = false;  // of the metric to keep less is better
  std::vector<Parameter> parameters;
};

enum class Stage : std::uint8_t { screen, confirm, combine, done };
const char* toString(Stage stage);

struct Run {
  Stage stage = Stage::done;
  int round = 0;              // of the search, from 1
  std::size_t candidate = 0;  // place in candidates()
};

struct RunResult {
  double rate = 0;             // more is better; 0 = the run is no measurement
  std::string cause;           // why it is none
  std::optional<double> keep;  // the metric that must not get worse
  double seconds = 0;          // of the run
  bool disturbed = false;      // other programs used the CPUs
};

enum class Conclusion : std::uint8_t {
  untested,     // the search ended before
  screenedOut,  // others looked better
  failed,       // a run of it was no measurement
  kept,         // in the best settings, alone or as a part
  notNeeded,    // a gain, but not beside those that are kept
  noGain,       // less than min_gain
  undecided,    // too few pairs for an answer
  worse,        // the metric to keep got worse
};
const char* toString(Conclusion conclusion);

struct Verdict {
  Conclusion conclusion = Conclusion::untested;
  Ratio measured;   // against the unchanged program; without interval while it was only screened
  std::string why;  // a sentence without a period
};

class Search {
 public:
  // `candidates`: [0] is the unchanged program; those that repeat the settings of an earlier one are left out.
  Search(std::vector<Candidate> candidates, SearchOptions options);

  // The next run, the same until its result is added; nullopt: the search has ended.
  std::optional<Run> next();
  void add(const RunResult& result);
  // From the next round on.
  void setBudget(double seconds, int most_runs);
  // Ends the search before its time, with what is known. `why` is a clause: "the budget is over".
  void end(const std::string& why);

  // Combinations are added while the search runs.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  Verdict verdict(std::size_t candidate) const;
  std::size_t best() const { return best_; }  // 0 = the unchanged program
  Stage stage() const { return stage_; }
  int rounds() const { return round_; }  // begun
  int runs() const { return runs_; }
  double spentSeconds() const { return spent_s_; }
  int repeatedRounds() const { return repeated_; }     // for a run that was disturbed
  int disturbedRounds() const { return disturbed_; }   // that count although one was
  const std::string& ended() const { return ended_; }  // why before its time; empty = it is complete

 private:
  struct State {
    std::vector<Pair> screened, pairs, against_best;
    std::vector<double> keep_changes;  // relative, less than 0 = worse
    int runs = 0;
    int failures = 0;  // in a row
    double seconds = 0;
    Conclusion conclusion = Conclusion::untested;
    std::string why;
  };

  bool planRound();
  std::vector<std::size_t> members() const;
  void order(std::vector<std::size_t> members);
  void endRound();
  void takePairs();
  double roundSeconds(const std::vector<std::size_t>& members) const;
  bool outOfBudget(const std::vector<std::size_t>& members, double share) const;
  void conclude(std::size_t candidate, Conclusion conclusion, std::string why);

  void evaluateScreen();
  bool needsScreening(std::size_t candidate) const;
  std::map<std::string, std::vector<std::size_t>> groupsByRatio() const;
  void dropBehind(std::size_t candidate, std::size_t better);
  void dropClearlyWorse();
  void halveGroups();
  void refineRanges();
  void chooseFinalists();
  bool canConfirm(const std::vector<std::size_t>& finalists) const;
  double screenedRatio(std::size_t candidate) const;
  double screenedRank(std::size_t candidate) const;
  std::size_t groupSize(const std::string& group) const;

  void evaluateConfirm();
  void decide(std::size_t candidate, bool last);
  void beginCombining();
  bool nextCombination();
  void dropWhatIsSet();
  void evaluateCombination(bool last);
  double finalistAlpha() const;
  bool keepsWorse(std::size_t candidate) const;

  std::vector<Candidate> candidates_;
  std::vector<State> states_;
  SearchOptions options_;
  std::mt19937_64 random_;
  Stage stage_ = Stage::done;
  std::vector<std::size_t> active_;  // screened, or to be confirmed
  std::size_t finalists_ = 1;
  std::vector<std::size_t> confirmed_;  // still to be combined, best first
  std::size_t combinations_ = 1;
  std::size_t combination_ = 0;  // under test; 0 = none
  std::size_t best_ = 0;

  int round_ = 0, stage_rounds_ = 0, screened_rounds_ = 0, repeated_ = 0, disturbed_ = 0, runs_ = 0;
  double spent_s_ = 0;
  std::vector<std::size_t> plan_;  // of the round, in order
  std::vector<RunResult> results_;
  std::string ended_;
};

}  // namespace pitwall::tuning
