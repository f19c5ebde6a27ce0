#include "analyzer/analysis/time_chunk_plan.h"

#include <algorithm>
#include <cmath>

#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr double kEventsAtOnce = 1 << 18;  // about ten MB of them, which fit a cache
constexpr double kPoints = 8;              // at least, that stand for the events of a stored chunk
constexpr double kMostPoints = 1024;       // at most
constexpr double kLeastSpread = 512;       // a stored chunk of fewer events may be one point

struct Point {
  TimeNs time_ns = 0;
  double events = 0;
};

struct StoredChunk {
  double first_ns = 0, span_ns = 0, events = 0;  // span: until the last start
};

class StoredChunks final : public SqlVisitor {
 public:
  void columns(std::span<const std::string>) override {}
  bool row(std::span<const SqlValue> values) override {
    const auto number = [&](std::size_t i) {
      const auto* value = std::get_if<std::int64_t>(&values[i]);
      return value != nullptr ? static_cast<double>(*value) : 0;
    };
    all_.push_back({number(0), std::max(0.0, number(1) - number(0)), number(2)});
    return true;
  }

  double events() const {
    double sum = 0;
    for (const auto& chunk : all_) sum += chunk.events;
    return sum;
  }

  // Events of the stored chunks that contain a moment, on average.
  double across() const {
    double begin = INFINITY, end = -INFINITY, sum = 0;
    for (const auto& chunk : all_) {
      begin = std::min(begin, chunk.first_ns), end = std::max(end, chunk.first_ns + chunk.span_ns);
      sum += chunk.events * chunk.span_ns;
    }
    return end > begin ? sum / (end - begin) : events();
  }

  // Moments that stand for the events, in order of time; evenly spaced within a stored chunk.
  std::vector<Point> points(double at_once) const {
    std::vector<Point> result;
    for (const auto& chunk : all_) {
      const double least = chunk.events < kLeastSpread ? 1 : kPoints;
      const double most = std::min(chunk.events, kMostPoints);
      const double count = std::floor(std::clamp(4 * chunk.events / at_once, std::min(least, most), most));
      for (double p = 0; p < count; ++p) {
        const double time = std::clamp(chunk.first_ns + chunk.span_ns * p / count, -9e18, 9e18);
        result.push_back({static_cast<TimeNs>(time), chunk.events / count});
      }
    }
    std::sort(result.begin(), result.end(),
              [](const Point& a, const Point& b) { return a.time_ns < b.time_ns; });
    return result;
  }

 private:
  std::vector<StoredChunk> all_;
};

}  // namespace

Result<std::vector<TimeNs>> planTimeChunks(Trace& trace, std::size_t events_at_once) {
  StoredChunks chunks;
  // An event that encloses many others ends long after the last start.
  PITWALL_TRY(trace.visit(
      "SELECT c.first_start_ns, coalesce(s.last_start_ns, c.last_end_ns), c.event_count FROM event_chunk c "
      "LEFT JOIN event_summary s ON s.id = c.id",
      {}, chunks));
  std::vector<TimeNs> cuts;
  const double at_once =
      events_at_once > 0 ? static_cast<double>(events_at_once) : std::max(kEventsAtOnce, 2 * chunks.across());
  double events = 0, left = chunks.events();
  if (left <= 1.5 * at_once) return cuts;
  for (const auto& point : chunks.points(at_once)) {
    // A last time chunk of less than half the size is part of the one before.
    if (events >= at_once && left >= 0.5 * at_once && (cuts.empty() || point.time_ns > cuts.back())) {
      cuts.push_back(point.time_ns);
      events = 0;
    }
    events += point.events;
    left -= point.events;
  }
  return cuts;
}

}  // namespace pitwall::analysis
