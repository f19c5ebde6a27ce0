// Time is cut into chunks of some thousand events each. Of every lane a chunk holds a part that follows the
// one of the chunk before: they are gathered and sorted within the cache.
#include "gui/models/start_order.h"

#include <algorithm>

#include "gui/models/event_order.h"
#include "gui/models/radix_sort.h"

namespace pitwall::gui {
namespace {

// Of each lane every so many events one is a sample; so many samples make a chunk. A chunk holds at most as
// many events as its samples stand for, and kSampled more of each lane.
constexpr std::size_t kSampled = 64, kSamplesOfChunk = 128;
constexpr int kTimeDigitBits = 8;  // tables of larger digits cost more than they save on so few events

using Item = Keyed<std::uint64_t>;

// What is kept of one lane.
struct Run {
  const TimeNs* starts;          // of the lane
  const std::uint32_t* numbers;  // of those kept
  std::size_t first;             // number of the lane's first event
  std::size_t at, end;           // of numbers: what no chunk has taken yet

  TimeNs startNs(std::size_t i) const { return starts[numbers[i] - first]; }
};

std::vector<Run> runsOf(const EventNumbers& numbers, const std::vector<std::uint32_t>& kept) {
  std::vector<Run> runs;
  auto at = kept.begin();
  for (std::size_t p = 0; p < numbers.places().size() && at != kept.end(); ++p) {
    const auto end = std::lower_bound(at, kept.end(), numbers.firstOf(p + 1));
    const auto [track, lane] = numbers.places()[p];
    const TimeNs* starts = numbers.timeline().tracks[track].lanes[lane].columns().start.data();
    if (at != end) runs.push_back({starts, &*at, numbers.firstOf(p), 0, static_cast<std::size_t>(end - at)});
    at = end;
  }
  return runs;
}

// Where chunks begin but the first; different times.
std::vector<TimeNs> bordersOf(const std::vector<Run>& runs) {
  std::vector<TimeNs> samples, borders;
  for (const Run& run : runs) {
    for (std::size_t i = kSampled - 1; i < run.end; i += kSampled) samples.push_back(run.startNs(i));
  }
  std::sort(samples.begin(), samples.end());
  for (std::size_t i = kSamplesOfChunk; i < samples.size(); i += kSamplesOfChunk) {
    if (borders.empty() || borders.back() < samples[i]) borders.push_back(samples[i]);
  }
  return borders;
}

class Chunks {
 public:
  Chunks(std::vector<Run> runs, bool descending) : runs_(std::move(runs)), descending_(descending) {}

  // The events that no chunk has taken yet and that start before `border`; all when there is none.
  std::span<const std::uint32_t> take(const TimeNs* border) {
    items_.clear();
    for (Run& run : runs_) {
      for (; run.at < run.end; ++run.at) {
        const TimeNs start = run.startNs(run.at);
        if (border != nullptr && start >= *border) break;
        // Shifted by half their range, times are in the order of unsigned numbers.
        const std::uint64_t key = static_cast<std::uint64_t>(start) ^ (std::uint64_t{1} << 63);
        items_.push_back({descending_ ? ~key : key, run.numbers[run.at]});
      }
    }
    if (other_.size() < items_.size()) other_.resize(items_.size());
    sorted_.resize(items_.size());
    radixSort<kTimeDigitBits>(std::span(items_), std::span(other_).first(items_.size()), std::span(sorted_),
                              [] { return false; });
    return sorted_;
  }

 private:
  std::vector<Run> runs_;
  bool descending_;
  std::vector<Item> items_, other_;
  std::vector<std::uint32_t> sorted_;
};

}  // namespace

void orderByStart(const EventNumbers& numbers, bool descending, std::vector<std::uint32_t>& kept,
                  const std::atomic<bool>* cancel) {
  std::vector<Run> runs = runsOf(numbers, kept);
  const std::vector<TimeNs> borders = bordersOf(runs);
  Chunks chunks(std::move(runs), descending);
  std::vector<std::uint32_t> ordered(kept.size());
  std::size_t done = 0;
  for (std::size_t s = 0; s <= borders.size(); ++s) {
    if (cancel != nullptr && cancel->load()) return;
    const auto chunk = chunks.take(s < borders.size() ? &borders[s] : nullptr);
    // The latest chunk comes first when the order descends.
    const std::size_t to = descending ? kept.size() - done - chunk.size() : done;
    std::copy(chunk.begin(), chunk.end(), ordered.begin() + static_cast<std::ptrdiff_t>(to));
    done += chunk.size();
  }
  kept = std::move(ordered);
}

}  // namespace pitwall::gui
