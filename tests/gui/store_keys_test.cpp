// Operators of a key-value store show their keys; others do not change.
#include "gui/timeline/store_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "db/store.h"
#include "gui/timeline/timeline_cache.h"
#include "tests/support/temp_folder.h"

namespace pitwall::gui::store_keys_test {
namespace {

class StoreKeys : public ::testing::Test {
 protected:
  std::string trace() {
    const std::string path = folder_ / "keys.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const TrackId worker =
        trace.track({TrackKind::thread, process, trace.thread({process, 1, "w"}), {}, "", ""});
    std::vector<Event> events;
    const auto add = [&](const char* name, const char* layer, TimeNs start, TimeNs dur) {
      OperatorFacts facts;
      facts.name = name;
      facts.layer = layer;
      events.push_back({.start_ns = start,
                        .dur_ns = dur,
                        .name = trace.string(name),
                        .op = trace.operatorFacts(facts),
                        .kind = EventKind::operatorRun});
    };
    add("KVStoreReduce", "conv1.weight", 0, 50);
    add("KVStoreReduce", "fc.bias", 100, 50);
    add("Convolution", "conv1", 200, 50);
    add("KVStoreDistAllReduce", "fc.bias", 300, 200);  // two at once, as exchanges are
    add("KVStoreDistAllReduce", "conv1.weight", 300, 250);
    add("KVStoreReduce", "", 600, 50);
    events.push_back(
        {.start_ns = 700, .dur_ns = 50, .name = trace.string("KVStoreReduce")});  // imported: no facts
    trace.events(worker, events);
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }
  std::shared_ptr<const Timeline> load(const std::string& path) {
    auto opened = Trace::open(path);
    EXPECT_TRUE(opened.has_value());
    LoadControl control;
    control.cache_folder = folder_ / "cache";
    auto timeline = loadTimeline(**opened, control);
    EXPECT_TRUE(timeline.has_value());
    if (!timeline.value()->from_cache) {
      EXPECT_TRUE(
          writeTimelineCache(control.cache_folder, *traceIdentity(**opened), *timeline.value()).has_value());
    }
    return timeline.value();
  }
  // "START LABEL", by start.
  static std::vector<std::string> labels(const Timeline& timeline) {
    std::vector<std::string> all;
    for (std::size_t t = 0; t < timeline.tracks.size(); ++t)
      for (std::size_t l = 0; l < timeline.tracks[t].lanes.size(); ++l)
        for (std::size_t i = 0; i < timeline.tracks[t].lanes[l].size(); ++i) {
          const EventRef event{t, l, i};
          EXPECT_EQ(fullNameOf(timeline, event), timeline.label(labelOf(timeline, event)));
          all.push_back(std::to_string(timeline.tracks[t].lanes[l].startNs(i)) + ' ' +
                        fullNameOf(timeline, event));
        }
    std::ranges::sort(all);
    return all;
  }

  test::TempFolder folder_;
};

TEST_F(StoreKeys, AreShownOnTheirEventsAlone) {
  const std::string path = trace();
  const std::vector<std::string> expected = {"0 KVStoreReduce conv1.weight",
                                             "100 KVStoreReduce fc.bias",
                                             "200 Convolution",
                                             "300 KVStoreDistAllReduce conv1.weight",
                                             "300 KVStoreDistAllReduce fc.bias",
                                             "600 KVStoreReduce",
                                             "700 KVStoreReduce"};
  EXPECT_EQ(labels(*load(path)), expected);
  const auto again = load(path);
  EXPECT_TRUE(again->from_cache);
  EXPECT_EQ(labels(*again), expected);
  // The name is the same for searches and sums.
  const Lane& lane = again->tracks[0].lanes[0];
  EXPECT_EQ(again->name(lane.name(0)), "KVStoreReduce");
  EXPECT_EQ(lane.name(0), lane.name(1));
}

}  // namespace
}  // namespace pitwall::gui::store_keys_test
