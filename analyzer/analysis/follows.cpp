// Which operators follow each other directly on one track.
#include <algorithm>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"

namespace pitwall::analysis {

constexpr Column kFollowsColumns[] = {
    {"first", kInteger, "id", "of the facts of the operator before"},
    {"second", kInteger, "id", "of the facts of the operator that follows it"},
    {"count", kInteger, "count", "how often"},
    {"second_ns", kInteger, "ns", "total time of the second"},
};
constexpr TableDeclaration kFollowsTable{
    "analysis_follows", "Two operators that follow each other directly on one track, over the whole trace.",
    kFollowsColumns};

namespace {

struct Follow {
  std::uint32_t second = 0;
  std::int64_t count = 0;
  TimeNs second_ns = 0;
};

class Follows final : public TimeChunkAnalysis {
 public:
  Follows(std::size_t tracks, std::size_t facts) : last_(tracks + 1, 0), pairs_(facts + 1) {}

  void add(const TimeChunkView& now) override {
    for (const auto& op : now.chunk.operators) {
      auto& before = last_[op.track];
      if (before != 0 && op.op) {
        auto& follows = pairs_[before];
        auto found = std::find_if(follows.begin(), follows.end(),
                                  [&](const Follow& follow) { return follow.second == op.op.value; });
        if (found == follows.end()) found = follows.insert(found, {op.op.value});
        ++found->count;
        found->second_ns += op.end_ns - op.start_ns;
      }
      before = op.op.value < pairs_.size() ? op.op.value : 0;
    }
  }

  Status write(Trace& trace, const Context&) override {
    TempTable table(kFollowsTable);
    for (std::size_t first = 1; first < pairs_.size(); ++first) {
      std::sort(pairs_[first].begin(), pairs_[first].end(),
                [](const Follow& a, const Follow& b) { return a.second < b.second; });
      for (const auto& follow : pairs_[first]) {
        table.row({static_cast<std::int64_t>(first), static_cast<std::int64_t>(follow.second), follow.count,
                   follow.second_ns});
      }
    }
    return table.write(trace);
  }

 private:
  std::vector<std::uint32_t> last_;         // by track
  std::vector<std::vector<Follow>> pairs_;  // by the first; few follow one
};

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeFollows(const Trace& trace) {
  return std::make_unique<Follows>(trace.tracks().size(), trace.operatorFacts().size());
}

}  // namespace pitwall::analysis
