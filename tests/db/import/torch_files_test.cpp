// PyTorch's execution traces and memory snapshots. SQLite's JSON functions read the fixtures independently; of the
// snapshot, what Python's pickle module makes of it (memory_snapshot.json).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::torch_files_test {
namespace {

using testing::HasSubstr;

std::string executionTrace() { return readAll(seedFile("execution_trace/linear.json")); }

TEST(ImportExecutionTrace, CountsAgreeWithAnotherReader) {
  const auto imported = importText(executionTrace());
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "PyTorch execution trace");
  EXPECT_EQ(imported->summary.inputs[0].version, "1.1.1-chakra.0.0.4");
  const std::string nodes = "SELECT count(*) FROM json_each(?1,'$.nodes') WHERE ";
  EXPECT_EQ(imported->records("nodes"), numberBySql(nodes + "1", executionTrace()));
  EXPECT_EQ(imported->summary.totalEvents(),
            numberBySql(nodes + "json_extract(value,'$.name') NOT LIKE '[pytorch|%'", executionTrace()));
  EXPECT_EQ(static_cast<std::int64_t>(imported->named("aten::mm").size()),
            numberBySql(nodes + "json_extract(value,'$.name')='aten::mm'", executionTrace()));
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "order only");
  EXPECT_THAT(imported->summary.notes, testing::Contains(HasSubstr("has no times")));
}

// A node is written when it ends; its number says when it began.
TEST(ImportExecutionTrace, OperatorsAreWithinTheirCallersInOrder) {
  const auto imported = importText(executionTrace());
  const Event forward = imported->only("## forward ##"), linear = imported->only("aten::linear");
  EXPECT_EQ(forward.kind, EventKind::scope);
  EXPECT_EQ(forward.dur_ns, 4000) << "a microsecond for each node";
  EXPECT_EQ(linear.depth, 1);
  const Event transposed = imported->only("aten::t");
  EXPECT_EQ(transposed.depth, 2);
  const Event product = imported->named("aten::mm").front().second;
  EXPECT_EQ(product.start_ns, transposed.start_ns + transposed.dur_ns);
  const OperatorFacts& facts = imported->sink.facts.at(product.op.value - 1);
  EXPECT_EQ(facts.shapes, "64x32,32x10->64x10");
  EXPECT_EQ(facts.dtype, "float");
  EXPECT_EQ(imported->sink.facts.at(linear.op.value - 1).dtype, "Half");
  const Event backward = imported->only("autograd::engine::evaluate_function: MmBackward0");
  EXPECT_EQ(imported->sink.facts.at(backward.op.value - 1).phase, Phase::backward);
  EXPECT_EQ(imported->sink.threads.size(), 2U);
}

TEST(ImportExecutionTrace, OlderSchemaAndNodesThatContradictThemselves) {
  const auto old = importFiles({seedFile("execution_trace/old.json")});
  ASSERT_EQ(old->error, "");
  const OperatorFacts& facts = old->sink.facts.at(old->only("aten::add").op.value - 1);
  EXPECT_EQ(facts.shapes, "8x4,4->8x4");
  EXPECT_EQ(facts.dtype, "double");
  const auto odd = importText(
      R"({"schema":"1.0.2-chakra.0.0.4","pid":1,"nodes":[
{"id":3,"name":"a::a","ctrl_deps":4},{"id":4,"name":"b::b","ctrl_deps":3},{"id":5,"name":"c::c","ctrl_deps":99},
{"id":5,"name":"d::d","ctrl_deps":1},{"name":"e::e"},{"id":6},7,{"id":8,"name":"f::f","ctrl_deps":5}]})");
  ASSERT_EQ(odd->error, "");
  EXPECT_EQ(odd->summary.totalEvents(), 2);
  EXPECT_EQ(odd->only("f::f").depth, 1);
  EXPECT_EQ(Imported::counted(odd->summary.dropped, "nodes whose callers form a circle"), 2);
  EXPECT_EQ(Imported::counted(odd->summary.dropped, "nodes with the number of another"), 1);
  EXPECT_EQ(Imported::counted(odd->summary.dropped, "nodes without a number"), 3);
}

std::string unpickled() { return readAll(seedFile("../../db/import/memory_snapshot.json")); }
std::int64_t ofEntries(const std::string& what, const std::string& where) {
  return numberBySql(
      "SELECT " + what + " FROM json_each(?1,'$.device_traces') d JOIN json_each(d.value) e WHERE " + where,
      unpickled());
}
std::int64_t ofSegments(const char* member, int device) {
  return numberBySql("SELECT sum(json_extract(value,'$." + std::string(member) +
                         "')) FROM json_each(?1,'$.segments') WHERE json_extract(value,'$.device')=" +
                         std::to_string(device),
                     unpickled());
}

TEST(ImportMemorySnapshot, CountsAndSumsAgreeWithPythonsOwnReader) {
  const auto imported = importFiles({seedFile("memory_snapshot/two_devices.pickle")});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "PyTorch memory snapshot");
  EXPECT_EQ(imported->events("instant"), ofEntries("count(*)", "1"));
  std::int64_t allocated = 0;
  for (const auto& [track, event] : imported->named("alloc")) allocated += event.value;
  EXPECT_EQ(allocated,
            ofEntries("sum(json_extract(e.value,'$.size'))", "json_extract(e.value,'$.action')='alloc'"));
  // At the end the counters agree with the segments.
  EXPECT_EQ(imported->samples("memory allocated: gpu 0").back().value, ofSegments("allocated_size", 0));
  EXPECT_EQ(imported->samples("memory reserved: gpu 0").back().value, ofSegments("total_size", 0));
  EXPECT_EQ(imported->samples("memory allocated: gpu 1").back().value, ofSegments("allocated_size", 1));
  EXPECT_EQ(imported->samples("memory allocated: gpu 0").front().value, 512 + 1048576);
  EXPECT_EQ(imported->samples("memory allocated: gpu 0").size(), 4U);
  EXPECT_EQ(imported->only("oom").value, 100'000'000'000);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000005000");
  EXPECT_EQ(imported->sink.text(imported->named("alloc").front().second.args),
            R"({"function":"forward","file":"/home/user/train.py","line":31})");
}

TEST(ImportMemorySnapshot, WithoutTimesOnlyTheOrderIsKnown) {
  const auto imported = importFiles({seedFile("memory_snapshot/protocol_2_without_times.pickle")});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "order only");
  EXPECT_EQ(imported->events("instant"), 5);
  EXPECT_EQ(imported->sink.meta_values.count("trace.start_unix_ns"), 0U);
}

TEST(ImportMemorySnapshot, TimesBeyondTheRangeAreCounted) {
  const auto imported = importFiles({seedFile("../found/memory_snapshot/time_far_before_1970.pickle")});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("instant"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 1);
}

TEST(ImportMemorySnapshot, CodeIsNeverExecutedAndNamed) {
  const auto by_stack = importFiles({seedFile("memory_snapshot/calls_code.pickle")});
  EXPECT_THAT(by_stack->error,
              AllOf(HasSubstr("never executed"), HasSubstr("STACK_GLOBAL"), HasSubstr("posix.system")));
  const auto refused = [](std::string_view code) {
    return importText(std::string("\x80\x04U\x08"
                                  "segments",
                                  12) +
                      std::string(code))
        ->error;
  };
  EXPECT_THAT(refused("cos\nsystem\n"),
              AllOf(HasSubstr("GLOBAL"), HasSubstr("os.system"), HasSubstr("byte ")));
  for (const auto& [code, name] : std::vector<std::pair<char, std::string>>{{'R', "REDUCE"},
                                                                            {'b', "BUILD"},
                                                                            {'o', "OBJ"},
                                                                            {'i', "INST"},
                                                                            {'\x81', "NEWOBJ"},
                                                                            {'\x82', "EXT1"},
                                                                            {'Q', "BINPERSID"}})
    EXPECT_THAT(refused(std::string(1, code)), AllOf(HasSubstr("never executed"), HasSubstr(name)));
}

TEST(ImportMemorySnapshot, DamagedOnesSayWhere) {
  const auto of = [](std::string_view code) {
    return importText(std::string("\x80\x04U\x08"
                                  "segments",
                                  12) +
                      std::string(code))
        ->error;
  };
  EXPECT_THAT(of(""), HasSubstr("ends early"));
  EXPECT_THAT(of("."), HasSubstr("without the device_traces"));
  EXPECT_THAT(of("u"), HasSubstr("a mark is missing"));
  EXPECT_THAT(of("a"), HasSubstr("no container"));
  EXPECT_THAT(of("0a"), HasSubstr("a value is missing"));
  EXPECT_THAT(of("h\x05"), HasSubstr("place in memory is empty"));
  EXPECT_THAT(of("r\xff\xff\xff\x7f"), HasSubstr("out of range"));
  EXPECT_THAT(of(std::string_view("X\xff\xff\xff\x7f", 5)), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(of("}(K\x01u"), HasSubstr("a name has no value"));
  EXPECT_THAT(of("\xff"), HasSubstr("unknown"));
  const std::string whole = readAll(seedFile("memory_snapshot/two_devices.pickle"));
  for (std::size_t length = 20; length < whole.size(); length += 13)
    EXPECT_NE(importText(whole.substr(0, length))->error, "") << length;
}

// One list of entries that stands at many places, also within itself, neither hangs nor multiplies.
TEST(ImportMemorySnapshot, ListsWithinThemselvesEnd) {
  const auto text = [](const std::string& word) {
    return "U" + std::string(1, static_cast<char>(word.size())) + word;
  };
  std::string code = "\x80\x04}(" + text("segments") + "]\x94" + text("device_traces") + "](";
  code += "]\x94(}" + text("action") + text("alloc") + "s\x94";
  for (int i = 0; i < 2000; ++i) code += "h\x02";
  code +=
      "h\x01"
      "e";
  for (int i = 0; i < 20000; ++i) code += "h\x01";
  code += "eu.";
  const auto imported = importText(code);
  ASSERT_EQ(imported->error, "");
  EXPECT_LT(imported->summary.totalEvents(), 100'000);
  EXPECT_GT(Imported::counted(imported->summary.dropped, "devices beyond 1024"), 0);
}

}  // namespace
}  // namespace pitwall::test::torch_files_test
