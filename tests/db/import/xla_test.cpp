// What JAX and TensorFlow write: trace.json and xplane.pb of the same program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/import/input/protobuf.h"
#include "db/import/xla/xla_names.h"
#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"
#include "tests/db/import/wire.h"

namespace pitwall::test::xla_test {
namespace {

using testing::HasSubstr;

std::int64_t totalNs(const Imported& imported) {
  std::int64_t total = 0;
  for (const auto& [track, event] : imported.sink.all_events) total += event.dur_ns;
  return total;
}

// Both files hold this.
void expectWorkOfTheDevice(const Imported& imported) {
  const Event kernel = imported.only("loop_fusion");
  EXPECT_EQ(kernel.kind, EventKind::kernel);
  EXPECT_EQ(imported.sink.text(kernel.args), R"({"hlo_module":"jit_f","hlo_op":"fusion.3"})");
  const KernelFacts& facts = imported.sink.kernels.at(kernel.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{4, 2, 1}));
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(facts.registers_per_thread, 32);
  EXPECT_EQ(facts.static_shared_bytes, 16);
  EXPECT_EQ(facts.dynamic_shared_bytes, 1024);
  EXPECT_EQ(facts.theoretical_occupancy, 0.5);
  const Event copy = imported.only("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copy.kind, EventKind::copy);
  EXPECT_EQ(copy.value, 4096);
  const TrackInfo& track = imported.track(imported.named("loop_fusion").front().first);
  EXPECT_EQ(track.name, "gpu 0 stream 14");
  EXPECT_EQ(imported.sink.devices.at(track.device.value - 1).kind, "gpu");
  // The same time once more, by operation: no work.
  EXPECT_EQ(imported.only("fusion.3").kind, EventKind::scope);
  EXPECT_EQ(imported.track(imported.named("fusion.3").front().first).name, "gpu 0 stream 0: XLA Ops");
  const auto launches = imported.named("cuLaunchKernel");
  EXPECT_EQ(launches.at(0).second.kind, EventKind::api);
  ASSERT_EQ(imported.sink.all_dependencies.size(), 2U);
  EXPECT_EQ(imported.sink.all_dependencies[0].source, launches.at(0).second.correlation);
  EXPECT_EQ(imported.sink.all_dependencies[0].target, kernel.correlation);
}

TEST(ImportXlaJson, CountsAndSumsAgreeWithAnotherReader) {
  const std::string file = seedFile("xla_json/gpu.json");
  const auto imported = importFiles({file});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "trace JSON of JAX or TensorFlow");
  EXPECT_TRUE(imported->summary.not_understood.empty());
  const std::string complete = " FROM json_each(?1,'$.traceEvents') WHERE json_extract(value,'$.ph')='X'";
  EXPECT_EQ(imported->summary.totalEvents(), numberBySql("SELECT count(*)" + complete, readAll(file)));
  // 2.0004 us is 2000 ns, as its begin and end are 6000 and 8001 ns when they are rounded.
  EXPECT_NEAR(
      static_cast<double>(totalNs(*imported)),
      static_cast<double>(numberBySql(
          "SELECT cast(round(sum(json_extract(value,'$.dur'))*1000) AS INTEGER)" + complete, readAll(file))),
      2.0);
  expectWorkOfTheDevice(*imported);
  EXPECT_EQ(imported->only("Memset (Device)").value, 64);
  EXPECT_EQ(imported->sink.devices.at(0).name, "NVIDIA A100");
  ASSERT_EQ(imported->sink.iterations.size(), 2U) << "from the line Steps";
  EXPECT_EQ(imported->sink.iterations[0].index, 7);
}

TEST(ImportXlaJson, OtherToolsFilesAreNotTakenForIt) {
  const auto imported = importText(
      R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/job:localhost/replica:0/task:0/device:GPU:0 Compute"}},{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}]})");
  EXPECT_EQ(imported->summary.inputs[0].format, "Chrome Trace Event JSON");
}

TEST(ImportXplane, CountsAndSumsAgreeWithAnotherReader) {
  const std::string file = seedFile("xplane/gpu.pb");
  std::int64_t events = 0;
  std::uint64_t total_ps = 0;
  for (const Decoded& plane : decoded(readAll(file)).messages(1)) {
    for (const Decoded& line : plane.messages(3)) {
      for (const Decoded& event : line.messages(4)) {
        if (event.one(5) > 0) continue;  // a sum
        ++events;
        total_ps += event.one(3);
      }
    }
  }
  const auto imported = importFiles({file});
  ASSERT_EQ(imported->error, "");
  EXPECT_TRUE(imported->summary.complete());
  EXPECT_EQ(imported->summary.inputs[0].format, "XPlane of JAX or TensorFlow");
  EXPECT_EQ(imported->summary.totalEvents(), events);
  EXPECT_NEAR(static_cast<double>(totalNs(*imported)), static_cast<double>(total_ps) / 1000, 2.0);
  EXPECT_EQ(imported->records("planes"), 3);
  EXPECT_EQ(imported->records("events of /host:CPU"), 6);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "sums of events"), 1);
  ASSERT_EQ(imported->summary.notes.size(), 2U) << "a warning, and work without a launch";
  EXPECT_THAT(imported->summary.notes[0], HasSubstr("Something was dropped"));
}

TEST(ImportXplane, DevicesOperatorsStepsAndClock) {
  const auto imported = importFiles({seedFile("xplane/gpu.pb")});
  expectWorkOfTheDevice(*imported);
  EXPECT_EQ(imported->only("ncclDevKernel_AllReduce_Sum").kind, EventKind::communication);
  const Event dot = imported->only("dot.5");
  EXPECT_EQ(dot.kind, EventKind::operatorRun);
  EXPECT_EQ(imported->sink.facts.at(dot.op.value - 1).name, "dot");
  EXPECT_EQ(imported->sink.facts.at(dot.op.value - 1).layer, "dot.5");
  const TrackInfo& track = imported->track(imported->named("train").front().first);
  EXPECT_EQ(track.name, "python3");
  EXPECT_EQ(imported->sink.threads.at(track.thread.value - 1).tid, 4711);
  ASSERT_EQ(imported->sink.iterations.size(), 2U) << "the program's own, not the device's";
  EXPECT_EQ(imported->sink.iterations[0].time_ns, 0);
  EXPECT_EQ(imported->sink.iterations[1].time_ns, 20'000);
  // The session began 1 us before the first event.
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000001000");
  EXPECT_EQ(imported->sink.meta_values.at("host.name"), "box");
}

TEST(ImportXplane, ACutFileYieldsWhatPrecedesTheCut) {
  const auto imported = importFiles({seedFile("xplane/cut.pb")});
  ASSERT_EQ(imported->error, "");
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_THAT(imported->summary.inputs[0].damage, HasSubstr("cut or damaged"));
  EXPECT_EQ(imported->summary.totalEvents(), 5);
}

TEST(ImportXplane, LinesWhoseTimesCountFrom1970) {
  const std::string line = number(1, 1) + bytes(2, "t") + number(3, 1'700'000'000'000'000'000ULL) +
                           bytes(4, number(1, 9) + number(2, 0) + number(3, 2000));
  const auto imported = importText(bytes(1, bytes(2, "/host:CPU") + bytes(3, line)));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000000000");
  EXPECT_EQ(imported->only("event 9").dur_ns, 2) << "the plane holds no name";
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "names that the plane does not hold"), 1);
}

TEST(ImportXplane, NumbersThatDoNotFitAreDropped) {
  const std::string event = bytes(4, number(1, 9) + number(2, ~0ULL) + number(3, 1));
  const auto imported = importText(bytes(1, bytes(2, "/host:CPU") + bytes(3, number(1, 1) + event)));
  EXPECT_EQ(imported->summary.totalEvents(), 0);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 1);
}

// A text that many names refer to is kept once.
TEST(ImportXplane, NamesBeyondTheBoundAreLeftOut) {
  const auto entry = [](std::uint64_t field, std::uint64_t id, const std::string& message) {
    return bytes(field, number(1, id) + bytes(2, message));
  };
  const auto name = [](std::uint64_t id, const std::string& text) { return number(1, id) + bytes(2, text); };
  const std::string module_of_all = bytes(5, number(1, 1) + number(7, 2));
  std::string plane =
      bytes(2, "/host:CPU") +
      bytes(3, number(1, 1) + bytes(2, "t") + bytes(4, number(1, 7) + number(2, 0) + number(3, 2000)) +
                   bytes(4, number(1, 8) + number(2, 0) + number(3, 2000)));
  plane += entry(4, 7, name(7, "first") + module_of_all);
  for (std::uint64_t id = 100; id < 400; ++id) plane += entry(4, id, name(id, "filler") + module_of_all);
  plane += entry(4, 8, name(8, "last"));
  plane += entry(5, 1, name(1, "hlo_module")) + entry(5, 2, name(2, "jit_" + std::string(2000, 'f')));
  ImportOptions options;
  options.limits.string_table_bytes = 30'000;
  const auto all = importText(bytes(1, plane), options);
  ASSERT_EQ(all->error, "");
  EXPECT_EQ(all->only("last").dur_ns, 2);
  EXPECT_TRUE(all->summary.notes.empty());
  // Names of statistics beyond their half of the bound leave those of events alone.
  for (std::uint64_t id = 3; id < 300; ++id) plane += entry(5, id, name(id, std::string(200, 's')));
  const auto bounded = importText(bytes(1, plane), options);
  ASSERT_EQ(bounded->error, "");
  EXPECT_EQ(bounded->only("first").dur_ns, 2);
  EXPECT_EQ(bounded->records("events of /host:CPU"), 2);
  EXPECT_EQ(bounded->named("event 8").size(), 1U) << "beyond the bound";
  ASSERT_EQ(bounded->summary.notes.size(), 2U);
  EXPECT_THAT(bounded->summary.notes[0], HasSubstr("the plane \"/host:CPU\" holds more than"));
}

TEST(ImportXlaJson, TimesThatAreTooFarAreDropped) {
  const auto event = [](const std::string& ts, const std::string& dur) {
    return R"(,{"ph":"X","pid":1,"tid":1,"name":"a","ts":)" + ts + R"(,"dur":)" + dur + "}";
  };
  const std::string head =
      R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}})";
  const auto imported = importText(head + event("4611686018426", "4611686018426") +
                                   event("1", "4611686018426") + event("2", "3") + "]}");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 2);
}

// A line that is known stays itself when the bound is reached.
TEST(ImportXlaJson, LinesBeyondTheBoundShareOneRow) {
  constexpr int kMost = 1 << 16;
  std::string text =
      R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}})";
  const auto event = [&](int thread, const char* name) {
    text += R"(,{"ph":"X","pid":1,"tid":)" + std::to_string(thread) + R"(,"ts":1,"dur":1,"name":")" + name +
            "\"}";
  };
  for (int thread = 1; thread <= kMost; ++thread) event(thread, "a");
  event(kMost + 1, "beyond");
  event(kMost + 2, "beyond");
  event(5, "again");
  const auto imported = importText(text + "]}");
  ASSERT_EQ(imported->error, "");
  const TrackInfo& again = imported->track(imported->named("again").front().first);
  EXPECT_EQ(imported->sink.threads.at(again.thread.value - 1).tid, 5);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "events of lines beyond the first 65536"), 2);
}

TEST(XlaNames, Devices) {
  using import::xlaDevice;
  EXPECT_EQ(xlaDevice("/device:TPU:3")->kind, "tpu");
  EXPECT_EQ(xlaDevice("worker-1 /device:GPU:12")->index, 12);
  EXPECT_FALSE(xlaDevice("/device:CUSTOM:Megascale Trace"));
  EXPECT_FALSE(xlaDevice("/device:GPU:99999999999999999999"));
  EXPECT_FALSE(xlaDevice("/host:CPU"));
}

TEST(ProtoMessage, DamageEndsIt) {
  const auto fields = [](const std::string& message, bool& damaged) {
    import::ProtoMessage reader(message);
    import::ProtoField field;
    int count = 0;
    while (reader.next(field)) ++count;
    damaged = reader.damaged();
    return count;
  };
  bool damaged = false;
  const std::string whole = number(1, 300) + bytes(2, "abc") + fixed64(3, 5);
  EXPECT_EQ(fields(whole, damaged), 3);
  EXPECT_FALSE(damaged);
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    EXPECT_LT(fields(whole.substr(0, cut), damaged), 3);
    EXPECT_EQ(damaged, cut != 3 && cut != 8) << cut;  // between two fields
  }
  EXPECT_EQ(fields(std::string(11, '\xFF'), damaged), 0) << "a number of more than ten bytes";
  EXPECT_EQ(fields(varint(7 << 3 | 3), damaged), 0) << "groups";
  EXPECT_EQ(fields(std::string(1, '\0'), damaged), 0) << "field 0";
}

}  // namespace
}  // namespace pitwall::test::xla_test
