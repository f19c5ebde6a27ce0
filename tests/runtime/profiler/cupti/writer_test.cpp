// Activities into a trace; needs no CUDA.
#include "runtime/profiler/cupti/writer.h"

#include <gmock/gmock.h>

#include "tests/runtime/profiler/cupti/drain_view.h"

namespace pitwall::cupti::writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

DeviceFacts h100() {
  DeviceFacts facts;
  facts.name = "H100";
  facts.memory_bytes = Bytes{80} << 30;
  facts.limits = {9, 0, 32, 64, 32, 65536, 65536, 233472};
  return facts;
}

const Text* text(const std::string& text) {
  static Texts all;
  return all.of(text);
}

Activity work(const std::string& name, Ticks start, Ticks end, std::uint32_t correlation) {
  Activity activity;
  activity.name = text(name);
  activity.start = start;
  activity.end = end;
  activity.device = 0;
  activity.stream = 7;
  activity.correlation = correlation;
  return activity;
}

Activity call(const std::string& name, Ticks start, Ticks end, std::uint32_t correlation) {
  Activity activity = work(name, start, end, correlation);
  activity.place = Activity::Place::thread;
  activity.kind = EventKind::api;
  activity.device = {};
  activity.tid = 55;
  return activity;
}

TEST(ActivityWriter, LaunchesOperatorsAndKernels) {
  test::DrainView view;
  ActivityWriter writer;
  Activities activities;
  activities.devices = {h100()};
  activities.links = {{3, 42}};
  Activity kernel = work("gemm", 1500, 1700, 3);
  kernel.launch = 0;
  activities.launches = {LaunchFacts{{8, 1, 1}, {256, 1, 1}, 128, 0, 0, 0, 16}};
  Activity driver = call("cuLaunchKernel", 1410, 1440, 3);
  driver.is_driver_call = true;
  activities.events = {kernel, driver, call("cudaLaunchKernel", 1400, 1450, 3), work("old", 10, 900, 1)};
  writer.write(activities, view);
  EXPECT_THAT(view.lines(),
              UnorderedElementsAre("gpu 0 stream 7: 0 kernel gemm", "CUDA calls: 0 api cudaLaunchKernel",
                                   "CUDA calls: 1 api cuLaunchKernel"));
  const Event& launch = view.event("cudaLaunchKernel");
  const Event& run = view.event("gemm");
  EXPECT_NE(launch.correlation, 0U);
  EXPECT_NE(launch.correlation, run.correlation);
  EXPECT_EQ(view.event("cuLaunchKernel").correlation, 0U);  // the runtime's call represents both
  EXPECT_TRUE(view.hasDependency(launch.correlation, run.correlation));
  EXPECT_TRUE(view.hasDependency(42, launch.correlation));
  EXPECT_EQ(run.start_ns, 500);
  EXPECT_EQ(run.dur_ns, 200);
  const KernelFacts& facts = view.memory.kernels.at(run.kernel.value - 1);
  EXPECT_EQ(facts.registers_per_thread, 128);
  EXPECT_DOUBLE_EQ(facts.theoretical_occupancy, 0.25);  // 16 of 64 warps
  EXPECT_EQ(facts.limiter, "registers");
  EXPECT_EQ(view.memory.devices.at(0).name, "H100");
  EXPECT_EQ(view.memory.meta_values.at("device.gpu.0.compute_major"), "9");
  EXPECT_EQ(view.memory.meta_values.at("device.gpu.0.max_threads_per_multiprocessor"), "2048");
}

// All work that one call launches (a graph) depends on it, each piece with its own correlation; also when the
// call comes in a later drain.
TEST(ActivityWriter, GraphLaunchesAndLateCalls) {
  test::DrainView view;
  ActivityWriter writer;
  Activities first, second;
  first.events = {work("a", 2000, 2100, 9), work("b", 2100, 2300, 9)};
  second.events = {call("cudaGraphLaunch", 1900, 1950, 9)};
  writer.write(first, view);
  writer.write(second, view);
  const CorrelationId launch = view.event("cudaGraphLaunch").correlation;
  EXPECT_NE(view.event("a").correlation, view.event("b").correlation);
  EXPECT_TRUE(view.hasDependency(launch, view.event("a").correlation));
  EXPECT_TRUE(view.hasDependency(launch, view.event("b").correlation));
}

TEST(ActivityWriter, MemoryAndLosses) {
  test::DrainView view;
  ActivityWriter writer;
  Activities activities;
  activities.memory = {{1300, 0, "device", -100}, {1200, 0, "device", 100}, {1400, 0, "device", 50}};
  activities.without_time = 3;
  writer.write(activities, view);
  writer.lost(5, "CUPTI dropped records", view);
  writer.lost(0, "nothing", view);
  std::vector<double> values;
  for (const auto& [track, sample] : view.memory.all_counters) values.push_back(sample.value);
  EXPECT_THAT(values, ElementsAre(100, 0, 50));
  EXPECT_EQ(view.memory.tracks.at(0).name, "memory live: gpu 0 device");
  ASSERT_EQ(view.memory.losses.size(), 2U);
  EXPECT_EQ(view.memory.losses[0].count, 3);
  EXPECT_EQ(view.memory.losses[1].count, 5);
}

Activity ofUnifiedMemory(const std::string& name, Activity::Place place, Ticks start, Ticks end) {
  Activity activity = work(name, start, end, 0);
  activity.place = place;
  activity.stream = 0;
  return activity;
}

// Page faults of the host have a separate row, as CUPTI does not say which thread had them.
TEST(ActivityWriter, UnifiedMemory) {
  test::DrainView view;
  ActivityWriter writer;
  Activity migration = ofUnifiedMemory("Memcpy UVM HtoD", Activity::Place::migrations, 1100, 1200);
  migration.kind = EventKind::copy;
  migration.value = 4096;
  Activity fault = ofUnifiedMemory("GPU page fault", Activity::Place::pageFaults, 1050, 1250);
  fault.kind = EventKind::scope;
  Activity of_host = ofUnifiedMemory("CPU page fault", Activity::Place::pageFaults, 1300, 1300);
  of_host.kind = EventKind::instant;
  of_host.device = {};
  Activities activities;
  activities.events = {migration, fault, of_host};
  writer.write(activities, view);
  EXPECT_THAT(view.lines(), UnorderedElementsAre("gpu 0 unified memory: 0 copy Memcpy UVM HtoD",
                                                 "gpu 0 unified memory: page faults: 0 scope GPU page fault",
                                                 "unified memory: page faults: 0 instant CPU page fault"));
  EXPECT_EQ(view.event("Memcpy UVM HtoD").value, 4096);
  EXPECT_EQ(view.event("Memcpy UVM HtoD").correlation, 0U);
  for (const TrackInfo& track : view.memory.tracks)
    EXPECT_EQ(track.kind == TrackKind::stream, track.name.substr(0, 3) == "gpu") << track.name;
  EXPECT_TRUE(view.memory.losses.empty());
}

TEST(ActivityWriter, UnifiedMemoryWithTimesOfAnotherClockIsALoss) {
  test::DrainView view;
  ActivityWriter writer;
  const Ticks unix_ns = 1'700'000'000'000'000'000;
  Activities activities;
  activities.events = {ofUnifiedMemory("later", Activity::Place::migrations, unix_ns, unix_ns + 100),
                       ofUnifiedMemory("earlier", Activity::Place::pageFaults, 10, 20),
                       ofUnifiedMemory("before the recording", Activity::Place::migrations, 900, 950)};
  writer.write(activities, view);
  EXPECT_TRUE(view.lines().empty());
  ASSERT_EQ(view.memory.losses.size(), 1U);
  EXPECT_EQ(view.memory.losses[0].count, 2);
  EXPECT_EQ(view.memory.losses[0].reason, "of unified memory, with times of another clock");
}

TEST(ActivityWriter, SynchronisationIsOfTheContextsDevice) {
  test::DrainView view;
  ActivityWriter writer;
  Activities activities;
  activities.contexts = {{4, 1}};
  Activity sync = work("Stream Sync", 1100, 1200, 0);
  sync.place = Activity::Place::synchronisation;
  sync.kind = EventKind::wait;
  sync.device = {};
  sync.context = 4;
  activities.events = {sync};
  writer.write(activities, view);
  EXPECT_THAT(view.lines(), ElementsAre("gpu 1 stream 7: synchronisation: 0 wait Stream Sync"));
  EXPECT_EQ(view.event("Stream Sync").correlation, 0U);
}

// A query that finds its work done gives the record of a wait, but no record of its call.
TEST(ActivityWriter, QueriesAreNoWaits) {
  test::DrainView view;
  ActivityWriter writer;
  const auto wait = [](const std::string& name, std::uint32_t correlation) {
    Activity sync = work(name, 1100, 1200, correlation);
    sync.place = Activity::Place::synchronisation;
    sync.kind = EventKind::wait;
    sync.may_be_query = true;
    return sync;
  };
  Activities first, second;
  first.events = {wait("query", 1), wait("waited", 2), wait("waited, its call comes later", 3),
                  call("cudaEventSynchronize", 1050, 1250, 2)};
  second.events = {call("cudaStreamSynchronize", 1300, 1350, 3), wait("late query", 4)};
  writer.write(first, view);
  writer.write(second, view);
  writer.write({}, view);
  EXPECT_THAT(view.lines(),
              UnorderedElementsAre("gpu 0 stream 7: synchronisation: 0 wait waited",
                                   "gpu 0 stream 7: synchronisation: 0 wait waited, its call comes later",
                                   "CUDA calls: 0 api cudaEventSynchronize",
                                   "CUDA calls: 0 api cudaStreamSynchronize"));
}

}  // namespace
}  // namespace pitwall::cupti::writer_test
