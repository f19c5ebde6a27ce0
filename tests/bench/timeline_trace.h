// A trace of many events for timeline_bench: 48 threads with five levels of nested events and 16 streams, 256
// lanes in all, in bursts; the same every time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/timeline/timeline.h"

namespace pitwall::bench {

// Writes about `events` to `path`.
void makeTimelineTrace(const std::string& path, std::int64_t events);
// Writes this many threads of two events each.
void makeManyTracks(const std::string& path, int tracks);

// Without the viewer's cache.
std::shared_ptr<const gui::Timeline> loadPlain(const std::string& path);

// CPU seconds of this thread; of the whole process.
double threadSeconds();
double processSeconds();

// Prints a figure beside its target.
void line(std::string_view what, const std::string& figure, std::string_view target);

// CPU times of many runs, in milliseconds.
class Times {
 public:
  template <class Work>
  void measure(Work work) {
    const double begin = threadSeconds();
    work();
    ms_.push_back((threadSeconds() - begin) * 1e3);
  }
  double median() const { return at(0.5); }
  double at(double share) const;
  std::string text() const;  // "1.23 / 1.30 / 1.81 ms": least, median, p99

 private:
  std::vector<double> ms_;
};

}  // namespace pitwall::bench
