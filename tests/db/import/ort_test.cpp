// ONNX Runtime's profiles: operators with shapes and provider, the session around them, kernels of a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::ort_test {
namespace {

using testing::HasSubstr;

std::string session() { return readAll(seedFile("ort_json/session.json")); }

// A sum over the fixture's events, by SQLite's JSON functions.
std::int64_t ofEvents(const std::string& what, const std::string& where) {
  return numberBySql("SELECT " + what + " FROM json_each(?1) WHERE " + where, session());
}

std::int64_t totalNs(const Imported& imported, EventKind kind) {
  std::int64_t total = 0;
  for (const auto& [track, event] : imported.sink.all_events) total += event.kind == kind ? event.dur_ns : 0;
  return total;
}

TEST(ImportOrt, CountsAndSumsAgreeWithAnotherReader) {
  const auto imported = importText(session());
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "ONNX Runtime profile");
  EXPECT_TRUE(imported->summary.complete());
  const std::string is_node =
      "json_extract(value,'$.cat')='Node' AND json_extract(value,'$.name') LIKE '%_kernel_time'";
  EXPECT_EQ(imported->events("operator"), ofEvents("count(*)", is_node));
  EXPECT_EQ(totalNs(*imported, EventKind::operatorRun),
            ofEvents("sum(json_extract(value,'$.dur'))*1000", is_node));
  const std::string is_session = "json_extract(value,'$.cat')='Session'";
  EXPECT_EQ(imported->events("scope"), ofEvents("count(*)", is_session));
  EXPECT_EQ(totalNs(*imported, EventKind::scope),
            ofEvents("sum(json_extract(value,'$.dur'))*1000", is_session));
  const std::string on_device = "json_extract(value,'$.cat')='Kernel'";
  EXPECT_EQ(imported->events("kernel") + imported->events("copy"), ofEvents("count(*)", on_device));
  EXPECT_EQ(totalNs(*imported, EventKind::kernel) + totalNs(*imported, EventKind::copy),
            ofEvents("sum(json_extract(value,'$.dur'))*1000", on_device));
  EXPECT_EQ(imported->events("counter samples"),
            2 * ofEvents("count(*)", "json_extract(value,'$.args.mem_bytes_in_use') IS NOT NULL"));
}

TEST(ImportOrt, AnOperatorHasItsShapesProviderAndSizes) {
  const auto imported = importText(session());
  const auto convolutions = imported->named("Conv");
  ASSERT_EQ(convolutions.size(), 2U);
  EXPECT_EQ(convolutions[0].second.op.value, convolutions[1].second.op.value);
  const OperatorFacts& facts = imported->sink.facts.at(convolutions[0].second.op.value - 1);
  EXPECT_EQ(facts.name, "Conv");
  EXPECT_EQ(facts.layer, "/conv1/Conv");
  EXPECT_EQ(facts.shapes, "2x3x16x16,4x3x3x3->2x4x16x16");
  EXPECT_EQ(facts.dtype, "float");
  EXPECT_EQ(facts.backend, "CPUExecutionProvider");
  EXPECT_EQ(facts.bytes_read, 6144 + 432);
  EXPECT_EQ(facts.bytes_written, 8192);
  const OperatorFacts& shape = imported->sink.facts.at(imported->only("Shape").op.value - 1);
  EXPECT_EQ(shape.shapes, "2x10,1->2") << "a scalar has one element";
  EXPECT_EQ(imported->sink.text(imported->only("Shape").args), R"({"input_types":"float,int64"})");
  EXPECT_EQ(imported->samples("memory allocated: cpu").size(), 2U);
  EXPECT_EQ(imported->samples("memory reserved: cpu").at(0).value, 1114112);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "fences"), 1);
}

// In the file, operators stand before the ranges of the session that enclose them.
TEST(ImportOrt, OperatorsAreWithinTheRunOfTheModel) {
  const auto imported = importText(session());
  std::map<std::string, int> depth;
  for (const auto& [track, event] : imported->sink.all_events)
    depth[imported->sink.text(event.name)] = event.depth;
  EXPECT_EQ(depth["model_run"], 0);
  EXPECT_EQ(depth["SequentialExecutor::Execute"], 1);
  EXPECT_EQ(depth["Conv"], 2);
}

TEST(ImportOrt, KernelsFollowTheOperatorThatLaunchedThem) {
  const auto imported = importText(session());
  const Event kernel = imported->only("void gemm<128, 64>(float*)");
  EXPECT_EQ(kernel.kind, EventKind::kernel);
  const KernelFacts& facts = imported->sink.kernels.at(kernel.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{4, 2, 1}));
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(imported->only("MemcpyDeviceToHost").value, 80);
  ASSERT_EQ(imported->sink.all_dependencies.size(), 2U);
  for (const Dependency& edge : imported->sink.all_dependencies) {
    EXPECT_EQ(edge.kind, DependencyKind::launch);
    EXPECT_EQ(edge.source, imported->only("MatMul").correlation);
  }
  EXPECT_EQ(imported->track(imported->named("MemcpyDeviceToHost").front().first).kind, TrackKind::stream);
}

TEST(ImportOrt, NamesOfParentsMayHaveEscapes) {
  const auto imported = importText(
      R"([{"cat":"Session","pid":1,"tid":1,"dur":10,"ts":3,"ph":"X","name":"model_run","args":{}},
{"cat":"Node","pid":1,"tid":1,"dur":5,"ts":4,"ph":"X","name":"a\"b_kernel_time","args":{"op_name":"MatMul","provider":"CUDAExecutionProvider"}},
{"cat":"Kernel","pid":1,"tid":1,"dur":2,"ts":5,"ph":"X","name":"gemm","args":{"stream":7,"parent_name":"a\"b_kernel_time"}}])");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.all_dependencies.size(), 1U);
  EXPECT_TRUE(imported->summary.notes.empty());
}

TEST(ImportOrt, RunsOfTheModelAreIterations) {
  const auto imported = importText(session());
  ASSERT_EQ(imported->sink.iterations.size(), 3U);
  EXPECT_EQ(imported->sink.iterations[0].time_ns, (9352 - 3) * 1000);
  EXPECT_EQ(imported->sink.iterations[1].time_ns, (9352 + 286 - 3) * 1000);
  EXPECT_EQ(imported->sink.meta_values.at("import.iteration_ends"), "marked");
}

TEST(ImportOrt, RunsThatOverlapAreNoIterations) {
  const auto imported = importText(
      R"([{"cat" : "Session","pid" :1,"tid" :1,"dur" :10,"ts" :3,"ph" : "X","name" :"model_run","args" : {}},
{"cat" : "Session","pid" :1,"tid" :2,"dur" :10,"ts" :5,"ph" : "X","name" :"model_run","args" : {}}])");
  EXPECT_TRUE(imported->sink.iterations.empty());
  ASSERT_EQ(imported->summary.notes.size(), 1U);
  EXPECT_THAT(imported->summary.notes[0], HasSubstr("overlap"));
}

// A program that is killed while it writes the file leaves its array open.
TEST(ImportOrt, ACutFileYieldsTheEventsBeforeTheCut) {
  const auto imported = importFiles({seedFile("ort_json/cut.json")});
  ASSERT_EQ(imported->error, "");
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_EQ(imported->events("operator"), 2);
  EXPECT_EQ(imported->events("kernel"), 1);
}

TEST(ImportOrt, OtherArraysAreNotTakenForIt) {
  const auto imported =
      importText(R"([{"cat":"Session","ph":"X","ts":1,"dur":2,"name":"login","pid":1,"tid":1}])");
  EXPECT_EQ(imported->summary.inputs[0].format, "Chrome Trace Event JSON");
}

}  // namespace
}  // namespace pitwall::test::ort_test
