// Decides what to run next, and what follows from the runs so far: a function of the options and of the results, in their order.
// An interrupted search continues by giving a new Search the old results again. Runs nothing itself.
//
// 1. Screening, where there are several candidates: in the first round the unchanged program and each candidate run once, in later ones only
//    those whose order could still change what is chosen. A group (the values of one parameter, one rule's proposals) loses what is
//    behind its best; a range of numbers that is down to one gets the values halfway to those beside it. Screening results are never
//    reported as a gain: the best of many is partly luck.
// 2. Confirmation, on new runs: the best of each group, at most four and as many as the budget can confirm, are added to each other, the best first. In each
//    round the unchanged program and these combinations run once. Each pair of combinations that differ in one part shows what this part adds. A
//    part that adds nothing is removed, and what was added after it is measured anew without it. A part leaves when its interval
//    decides, when no gain is in sight, or after twenty pairs.
//
// The tests of the parts, in their order, share alpha: as long as parts are gains, the next one is tested at the same level. After
// each that is none the level is lower; all levels together are alpha. The order was chosen on other runs, and what is measured
// anew has new runs, so the probability that any part is reported as a gain and is none stays below alpha.
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

enum class Stage : std::uint8_t { screen, confirm, done };
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
  notNeeded,  // sets nothing that is not set by what is kept, or is a step on the way to the best combination
  noGain,     // less than min_gain
  undecided,  // too few pairs for an answer
  worse,      // the metric to keep got worse
};
const char* toString(Conclusion conclusion);

struct Verdict {
  Conclusion conclusion = Conclusion::untested;
  Ratio measured;          // of no pairs while it was only screened: the ratio of typical rates
  int screened_runs = 0;   // while it was only screened
  std::size_t beside = 0;  // the candidate that it was added to and compared with; 0 = the unchanged program
  std::string why;         // a sentence without a period
};

// Of several runs of one program, of which the screening keeps no pairs.
double typicalRate(std::vector<double> rates);

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
    std::vector<double> screened;     // rates
    double screened_base = 0;         // typical rate of what it was added to
    std::size_t screened_beside = 0;  // that
    std::vector<Pair> pairs;          // with the unchanged program
    std::vector<Pair> added;          // of a part: the combination that ends with it, with `beside`
    std::size_t beside = 0;
    double alpha = 0;                  // of `added`
    std::vector<double> keep_changes;  // relative, less than 0 = worse
    int runs = 0;
    int failures = 0;  // in a row
    double seconds = 0;
    Conclusion conclusion = Conclusion::untested;
    std::string why;
  };
  // What the confirmation adds to the link before it; the first one to the unchanged program.
  struct Link {
    std::size_t part = 0;
    std::size_t base = 0;   // the candidate with all before it
    std::size_t total = 0;  // the candidate with this part, too
    bool is_gain = false;
  };

  bool planRound();
  std::vector<std::size_t> members();
  void order(std::vector<std::size_t> members);
  void endRound();
  const RunResult& resultOf(std::size_t candidate) const;
  bool wasMeasured(std::size_t candidate) const;  // in this round
  void takeRates();
  void takePairs();
  void takeAddedPairs();
  double roundSeconds(const std::vector<std::size_t>& members) const;
  bool outOfBudget(const std::vector<std::size_t>& members, double share) const;
  void conclude(std::size_t candidate, Conclusion conclusion, std::string why);
  void startStage(Stage stage);

  std::vector<std::size_t> unclear() const;
  std::vector<std::size_t> screenMembers();
  void evaluateScreen();
  std::map<std::string, std::vector<std::size_t>> groupsByRank() const;
  void dropBehind(const std::vector<std::size_t>& members);
  void refineRanges();
  bool screenBesideGains();
  void chooseParts();
  bool canConfirm(std::size_t parts) const;
  bool isNear(std::size_t candidate) const;
  bool isClear(std::size_t candidate) const;
  std::string screenedText(std::size_t candidate) const;
  double screenedRatio(std::size_t candidate) const;
  double screenedRank(std::size_t candidate) const;
  std::size_t groupSize(const std::string& group) const;

  std::vector<std::size_t> confirmMembers() const;
  void buildLinks();
  Assignments settingsWith(std::size_t base, std::size_t part) const;
  std::size_t combination(std::size_t base, std::size_t part);
  std::size_t partOf(std::size_t total) const;
  bool addsTo(std::size_t base, std::size_t part) const;
  std::string besideText(std::size_t base) const;
  double level() const;
  void evaluateConfirm(bool last);
  bool isDecided(Link& link, bool may_be_hidden, bool last);
  void keepLinks();
  bool keepsWorse(std::size_t candidate) const;

  std::vector<Candidate> candidates_;
  std::vector<State> states_;
  SearchOptions options_;
  std::mt19937_64 random_;
  Stage stage_ = Stage::done;
  std::vector<std::size_t> active_;  // screened
  std::size_t base_ = 0;             // that candidates are added to while they are screened
  std::vector<double> base_rates_;
  std::vector<std::size_t> parts_;  // to be confirmed, best first
  std::vector<Link> links_;         // of those that set what none before them sets
  std::size_t not_gains_ = 0;       // parts that were removed
  std::size_t best_ = 0;

  int round_ = 0, stage_rounds_ = 0, repeated_ = 0, disturbed_ = 0, runs_ = 0;
  double spent_s_ = 0;
  std::vector<std::size_t> plan_;  // of the round, in order
  std::vector<RunResult> results_;
  std::string ended_;
};

}  // namespace pitwall::tuning
