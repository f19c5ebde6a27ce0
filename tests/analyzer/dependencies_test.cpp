// The dependency graph of small traces: which nodes it has, and what each of them waited for.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <span>

#include "analyzer/dependencies/device_graph.h"
#include "analyzer/dependencies/operator_graph.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::test::dependencies_test {
namespace {

using namespace analysis;

const char* toText(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::data: return "data";
    case EdgeKind::order: return "order";
    case EdgeKind::launch: return "launch";
    case EdgeKind::stream: return "stream";
    case EdgeKind::release: return "release";
    case EdgeKind::handOver: return "hand-over";
  }
  return "";
}

class Traced {
 public:
  explicit Traced(const std::string& text) {
    EXPECT_TRUE(makeTraceFile(text, folder_ / "t.pitwall").has_value());
    auto trace = Trace::open(folder_ / "t.pitwall");
    EXPECT_TRUE(trace.has_value());
    trace_ = std::move(trace).value();
  }

  DeviceGraph devices(Interval window = {0, 1'000'000'000}, std::size_t most = 1000) const {
    auto activity = gatherActivity(*trace_);
    EXPECT_TRUE(activity.has_value());
    auto devices = graphOfDevices(*trace_, *activity, window, ProcessId{1}, most);
    EXPECT_TRUE(devices.has_value());
    return std::move(devices).value();
  }

  std::string nameOf(const Node& node) const {
    return node.op ? trace_->operatorFacts()[node.op.value - 1].name : trace_->string(node.name);
  }

  // "KIND FROM -> TO" of each edge, in the order of the nodes.
  std::string edges(const Graph& graph) const {
    std::string out;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const auto& wait : graph.into(i)) {
        out += fmt::format("{} {} -> {}\n", toText(wait.kind), nameOf(graph.nodes[wait.from]),
                           nameOf(graph.nodes[i]));
      }
    }
    return out;
  }

 private:
  const TempFolder folder_;
  std::unique_ptr<Trace> trace_;
};

TEST(DependencyGraph, WorkWaitsForItsLaunchAndItsStreamAndIsWaitedFor) {
  const Traced traced(
      "work kernel first 20us 30us launch=5us\n"
      "work kernel second 52us 20us launch=10us\n"
      "call cudaStreamSynchronize 20us 55us\n");
  const auto devices = traced.devices();
  const auto& graph = devices.graph;
  ASSERT_EQ(graph.nodes.size(), 5U);
  EXPECT_EQ(devices.first_work, 3U) << "calls first";
  EXPECT_EQ(traced.edges(graph),
            "release second -> cudaStreamSynchronize\n"
            "launch cudaLaunchKernel -> first\n"
            "order first -> second\nlaunch cudaLaunchKernel -> second\n");
  const auto& second = graph.nodes[4];
  EXPECT_EQ(second.start_ns, 52'000);
  EXPECT_EQ(second.durNs(), 20'000);
  EXPECT_EQ(second.asked_ns, 10'000) << "when its launch began";
  EXPECT_EQ(second.asked_on, 0U) << "on the thread";
  EXPECT_NE(graph.resources[second.resource].track, graph.resources[0].track);
  EXPECT_EQ(graph.nodes[graph.into(4, EdgeKind::launch)].start_ns, 10'000) << "its own launch";
  EXPECT_EQ(bindingOf(devices, 3).kind, Binding::Kind::launch);
  EXPECT_EQ(bindingOf(devices, 4).work, 3U) << "the stream was free later than it was launched";
  EXPECT_TRUE(devices.has_synchronisation);
  EXPECT_EQ(devices.without_launch, 0);
}

TEST(DependencyGraph, AnotherStreamIsWaitedForWhereStreamsWaitForEachOther) {
  const std::string two =
      "work kernel first 20us 30us launch=5us stream=1\n"
      "work kernel second {}us 10us launch=10us stream=2\n";
  const std::string waits = "call cudaStreamWaitEvent 16us 1us\n";
  const auto streams = [](const Traced& traced) {
    return traced.edges(traced.devices().graph).find("stream first -> second") != std::string::npos;
  };
  EXPECT_TRUE(streams(Traced(fmt::format(fmt::runtime(two), 60) + waits))) << "10 us after its end";
  EXPECT_FALSE(streams(Traced(fmt::format(fmt::runtime(two), 61) + waits))) << "too late for a hand-over";
  EXPECT_FALSE(streams(Traced(fmt::format(fmt::runtime(two), 51)))) << "streams are independent";
}

TEST(DependencyGraph, WithoutLaunchesWorkWaitsForWhatEndedLast) {
  const Traced traced("work kernel a 0us 10us\nwork kernel b 12us 10us\nwork kernel c 100us 10us stream=2\n");
  const auto devices = traced.devices();
  EXPECT_EQ(traced.edges(devices.graph), "order a -> b\nstream b -> c\n");
  EXPECT_EQ(devices.without_launch, 3);
  EXPECT_EQ(bindingOf(devices, 0).kind, Binding::Kind::nothing);
  EXPECT_EQ(devices.node(0).asked_on, Graph::kNone);
}

TEST(DependencyGraph, ThreadsNestEventsAndContinueEachOthersWork) {
  const Traced traced(
      "call outer 0us 20us\ncall inner 5us 5us\n"
      "op - backward none 30us 10us on=autograd\n"
      "op - step none 70us 10us on=main\n");
  const auto devices = traced.devices();
  const auto& nodes = devices.graph.nodes;
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(traced.edges(devices.graph).find("order"), std::string::npos) << "nodes of a thread are in order";
  const auto hands = traced.edges(devices.graph);
  std::string parents;
  for (const auto& node : nodes) {
    if (node.parent != Graph::kNone)
      parents += traced.nameOf(node) + " in " + traced.nameOf(nodes[node.parent]);
  }
  EXPECT_EQ(parents, "inner in outer");
  EXPECT_NE(hands.find("hand-over backward -> step"), std::string::npos) << hands;
  EXPECT_NE(hands.find("hand-over outer -> backward"), std::string::npos) << hands;
}

TEST(DependencyGraph, ALaunchOutsideOfTheWindowIsATimeButNoNode) {
  const Traced traced("work kernel k 50us 10us launch=5us\ncall cudaDeviceSynchronize 40us 30us\n");
  const auto devices = traced.devices({30'000, 100'000});
  ASSERT_EQ(devices.graph.nodes.size(), 2U);
  const auto& work = devices.node(1);
  EXPECT_EQ(work.asked_ns, 5'000);
  EXPECT_NE(work.asked_on, Graph::kNone);
  EXPECT_EQ(devices.graph.into(1, EdgeKind::launch), Graph::kNone);
  EXPECT_EQ(devices.without_launch, 0);
}

TEST(DependencyGraph, OfTooManyEventsTheMiddleIsTaken) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("work kernel k{} {}us 5us\n", i, 10 * i);
  const Traced traced(text);
  const auto devices = traced.devices({0, 1'000'000}, 60);
  EXPECT_EQ(devices.graph.window.start_ns, 250'000);
  EXPECT_EQ(devices.graph.window.end_ns, 750'000);
  EXPECT_EQ(devices.graph.nodes.size(), 50U);
  EXPECT_EQ(traced.nameOf(devices.node(0)), "k25");
  const auto none = Traced("call c 0us 1us\n").devices({0, 0});
  EXPECT_TRUE(none.graph.nodes.empty()) << "an empty window has no events";
}

TEST(DependencyGraph, AMomentWithinACallIsAskedForToo) {
  const Traced traced(
      "work kernel first 10us 10us launch=0us\nwork kernel second 25us 10us launch=5us\n"
      "call cudaDeviceSynchronize 12us 30us\n");
  const auto devices = traced.devices();
  const auto call = devices.lastBefore(0, 13'000);
  ASSERT_EQ(traced.nameOf(devices.node(call)), "cudaDeviceSynchronize");
  EXPECT_EQ(traced.nameOf(devices.node(devices.releasedBy(call, 42'000))), "second");
  EXPECT_EQ(traced.nameOf(devices.node(devices.releasedBy(call, 30'000))), "first");
  EXPECT_EQ(devices.releasedBy(call, 19'000), Graph::kNone) << "nothing had ended";
  EXPECT_EQ(devices.ownEnd(0, 12'000), 10'000) << "the second launch";
}

// A trace that holds these dependencies alone.
std::unique_ptr<Trace> traceOf(std::span<const Dependency> dependencies, const std::string& path) {
  auto sink = createTrace(path);
  EXPECT_TRUE(sink.has_value());
  sink.value()->dependencies(dependencies);
  EXPECT_TRUE(sink.value()->finish().has_value());
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value());
  return std::move(trace).value();
}

TEST(DependencyGraph, OperatorsWaitForTheirInputsAndTheirWorker) {
  // Start, end, push, correlation, facts, track. The fourth has no correlation.
  const std::vector<OperatorInterval> operators = {{0, 10, 0, 101, OperatorId{1}, 7},
                                                   {0, 30, 1, 102, OperatorId{2}, 8},
                                                   {31, 36, 2, 103, OperatorId{3}, 7},
                                                   {40, 45, 3, 0, OperatorId{1}, 8}};
  // The last two would lead backwards and from an operator that is not among these.
  const Dependency dependencies[] = {{101, 103}, {102, 103}, {103, 101}, {99, 102}};
  const TempFolder folder;
  const auto trace = traceOf(dependencies, folder / "t.pitwall");
  const auto graph = graphOfOperators(*trace, {0, 50}, operators);
  ASSERT_TRUE(graph.has_value());
  ASSERT_EQ(graph->nodes.size(), 4U);
  std::string edges;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (const auto& wait : graph->into(i))
      edges += fmt::format("{} {} {}\n", toText(wait.kind), wait.from, i);
  }
  EXPECT_EQ(edges, "order 0 2\ndata 0 2\ndata 1 2\norder 1 3\n");
  EXPECT_EQ(graph->nodes[2].asked_ns, 2);
  EXPECT_EQ(graph->nodes[2].durNs(), 5);
  EXPECT_EQ(graph->nodes[2].kind, EventKind::operatorRun);
  EXPECT_EQ(graph->resources.size(), 2U);
  EXPECT_EQ(graph->resources[graph->nodes[1].resource].track, TrackId{8});
}

// Operators that complete asynchronously did not wait for each other, but for the worker of their device.
TEST(DependencyGraph, AsynchronousOperatorsWaitForTheirInputsAndTheirDevicesWorkers) {
  const TempFolder folder;
  auto sink = createTrace(folder / "t.pitwall");
  ASSERT_TRUE(sink.has_value());
  TraceSink& out = **sink;
  const ProcessId process = out.process({1, "program", "", 0});
  const auto trackOf = [&](const char* name, DeviceId device, bool is_thread) {
    const ThreadId thread =
        is_thread ? out.thread({process, static_cast<std::int64_t>(device.value), name}) : ThreadId{};
    return out.track({TrackKind::thread, process, thread, device, name, ""}).value;
  };
  const DeviceId cpu0 = out.device({"cpu", 0, "", 0}), cpu1 = out.device({"cpu", 1, "", 0});
  const auto worker0 = trackOf("cpu worker", cpu0, true), worker1 = trackOf("cpu1 worker", cpu1, true),
             late = trackOf("cpu 1 asynchronous", cpu1, false),
             later = trackOf("cpu 1 asynchronous 2", cpu1, false);
  const Dependency dependencies[] = {{2, 6}};
  out.dependencies(dependencies);
  ASSERT_TRUE(out.finish().has_value());
  const auto trace = Trace::open(folder / "t.pitwall");
  ASSERT_TRUE(trace.has_value());
  const std::vector<OperatorInterval> operators = {
      {0, 10, 0, 1, OperatorId{1}, worker1}, {11, 40, 0, 2, OperatorId{1}, late},
      {12, 13, 0, 3, OperatorId{1}, later},  {13, 15, 0, 4, OperatorId{1}, worker0},
      {16, 20, 0, 5, OperatorId{1}, later},  {45, 50, 0, 6, OperatorId{1}, worker1},
      {46, 60, 0, 7, OperatorId{1}, late}};
  const auto graph = graphOfOperators(**trace, {0, 60}, operators);
  ASSERT_TRUE(graph.has_value());
  std::string edges;
  for (std::uint32_t i = 0; i < operators.size(); ++i) {
    for (const auto& wait : graph->into(i))
      edges += fmt::format("{} {} {}\n", toText(wait.kind), wait.from, i);
  }
  // The last started while the worker was busy: another one of the device, of which nothing is known.
  EXPECT_EQ(edges, "order 0 1\norder 0 2\norder 0 4\norder 0 5\ndata 1 5\n");
}

TEST(DependencyGraph, EdgesIntoANodeKeepTheirOrder) {
  Graph graph;
  graph.nodes.resize(4);
  EXPECT_EQ((graph.setEdges({}), graph.edges()), 0U);
  const Edge edges[] = {
      {2, 3, EdgeKind::data}, {0, 1, EdgeKind::order}, {1, 3, EdgeKind::order}, {0, 3, EdgeKind::data}};
  graph.setEdges(edges);
  ASSERT_EQ(graph.edges(), 4U);
  ASSERT_EQ(graph.into(3).size(), 3U);
  EXPECT_EQ(graph.into(3)[0].from, 2U);
  EXPECT_EQ(graph.into(3)[1].from, 1U);
  EXPECT_EQ(graph.into(3)[2].from, 0U);
  EXPECT_EQ(graph.into(3, EdgeKind::data), 2U) << "the first";
  EXPECT_EQ(graph.into(3, EdgeKind::launch), Graph::kNone);
  EXPECT_TRUE(graph.into(0).empty());
}

}  // namespace
}  // namespace pitwall::test::dependencies_test
