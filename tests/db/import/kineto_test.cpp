// The conventions of PyTorch's profiler, on a small trace written for this test.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/db/import/imported.h"

namespace pitwall::test::kineto_test {
namespace {

const char kTrace[] =
    R"json({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4},
"deviceProperties": [{"id": 1, "name": "A GPU", "totalGlobalMem": 1000}],
"traceEvents": [
{"ph":"M","name":"process_name","pid":500,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"GPU 1"}},
{"ph":"X","cat":"kernel","name":"late","pid":1,"tid":7,"ts":150,"dur":10,"args":{"device":1,"stream":7,"correlation":12}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":500,"tid":500,"ts":100,"dur":50,"args":{}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#6","pid":500,"tid":500,"ts":150,"dur":40,"args":{}},
{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#5","pid":1,"tid":7,"ts":110,"dur":50,"args":{"stream":7}},
{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":500,"tid":500,"ts":101,"dur":5},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":500,"tid":500,"ts":110,"dur":10,"args":{"Input Dims":[[64,3],[3,8],[]],"Input type":["float","float","Scalar"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":500,"tid":500,"ts":112,"dur":2,"args":{"cbid":211,"correlation":11}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":500,"tid":500,"ts":115,"dur":2,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":"gemm","pid":1,"tid":7,"ts":120,"dur":20,"args":{"device":1,"stream":7,"correlation":11}},
{"ph":"X","cat":"kernel","name":"carried in","pid":1,"tid":7,"ts":101,"dur":5,"args":{"device":1,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":1,"tid":20,"ts":125,"dur":20,"args":{"device":1,"stream":20,"correlation":0}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":1,"tid":7,"ts":145,"dur":2,"args":{"device":1,"stream":7,"correlation":0,"bytes":4096}},
{"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":1,"tid":7,"ts":100,"dur":60,"args":{"device":1,"stream":7,"correlation":99}},
{"ph":"s","id":11,"cat":"ac2g","name":"ac2g","pid":500,"tid":500,"ts":112},
{"ph":"f","id":11,"cat":"ac2g","name":"ac2g","pid":1,"tid":7,"ts":120,"bp":"e"},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":500,"tid":500,"ts":111,"args":{"Total Reserved":200,"Total Allocated":100,"Bytes":8,"Device Id":1,"Device Type":1}},
{"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":9223372036854775807}
], "traceName": "x.json", "baseTimeNanoseconds": 1700000000000000000})json";

TEST(ImportKineto, DeviceWorkGoesToStreamsOfItsDevice) {
  const auto imported = importText(kTrace);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "PyTorch Kineto JSON");
  EXPECT_EQ(imported->summary.inputs[0].version, "schema 1");
  auto use = deviceUse(*imported);
  ASSERT_EQ(use.size(), 1U);
  EXPECT_EQ(use[1].operations, 5);
  EXPECT_EQ(use[1].busy_ns, 5000 + 25000 + 2000 + 10000);
  ASSERT_EQ(imported->sink.devices.size(), 1U);
  EXPECT_EQ(imported->sink.devices[0].name, "A GPU");
  EXPECT_EQ(imported->sink.devices[0].memory_bytes, 1000);
  const TrackInfo& track = imported->track(imported->named("gemm").front().first);
  EXPECT_EQ(track.kind, TrackKind::stream);
  EXPECT_EQ(imported->sink.processes.at(track.process.value - 1).pid, 500);
  EXPECT_EQ(imported->only("ncclDevKernel_AllReduce").kind, EventKind::communication);
  EXPECT_EQ(imported->only("Memcpy HtoD (Pageable -> Device)").value, 4096);
  EXPECT_EQ(imported->only("Stream Sync").kind, EventKind::wait);
  EXPECT_NE(imported->named("Stream Sync").front().first, imported->named("gemm").front().first);
}

TEST(ImportKineto, LaunchesInAnyOrder) {
  const auto imported = importText(kTrace);
  std::map<CorrelationId, CorrelationId> launch_of;
  for (const Dependency& edge : imported->sink.all_dependencies) {
    EXPECT_EQ(edge.kind, DependencyKind::launch);
    launch_of[edge.target] = edge.source;
  }
  ASSERT_EQ(launch_of.size(), 2U);
  std::map<CorrelationId, std::int64_t> start_of;
  for (const auto& [track, event] : imported->named("cudaLaunchKernel"))
    start_of[event.correlation] = event.start_ns;
  EXPECT_EQ(start_of[launch_of[imported->only("gemm").correlation]], 12000);
  EXPECT_EQ(start_of[launch_of[imported->only("late").correlation]], 15000);
  EXPECT_NE(imported->only("carried in").correlation, 0U);
  ASSERT_FALSE(imported->summary.notes.empty());
  EXPECT_NE(imported->summary.notes[0].find("3 pieces of device work have no launch"), std::string::npos);
}

TEST(ImportKineto, StepsRanksOperatorsMemory) {
  const auto imported = importText(kTrace);
  ASSERT_EQ(imported->sink.iterations.size(), 3U);
  EXPECT_EQ(imported->sink.iterations[0].index, 5);
  EXPECT_EQ(imported->sink.iterations[0].time_ns, 0);
  EXPECT_EQ(imported->sink.iterations[1].time_ns, 50000);
  EXPECT_EQ(imported->sink.iterations[2].index, 7);
  EXPECT_EQ(imported->sink.iterations[2].time_ns, 90000);
  EXPECT_EQ(imported->summary.ranks, std::vector<int>{3});
  EXPECT_EQ(imported->sink.processes[0].rank, 3);
  const Event mm = imported->only("aten::mm");
  EXPECT_EQ(mm.kind, EventKind::operatorRun);
  const OperatorFacts& facts = imported->sink.facts.at(mm.op.value - 1);
  EXPECT_EQ(facts.shapes, "64x3,3x8");
  EXPECT_EQ(facts.dtype, "float");
  EXPECT_EQ(imported->sink.eventsOf(EventKind::dataWait).size(), 1U);
  EXPECT_EQ(imported->samples("memory allocated: gpu 1").at(0).value, 100);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000100000");
  EXPECT_EQ(imported->sink.meta_values.at("distributed.backend"), "nccl");
  EXPECT_EQ(imported->summary.end_ns, 90000);  // the mark of the recording window does not count
}

TEST(ImportKineto, SpellingsOf2021) {
  const auto imported = importText(R"json({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"Operator","name":"aten::add","pid":9,"tid":9,"ts":0,"dur":9,"args":{"Device":9,"External id":2}},
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":4,"dur":2,"args":{"device":0,"stream":7,"correlation":5}},
    {"ph":"X","cat":"Memset","name":"Memset (Device)","pid":0,"tid":"stream 7","ts":7,"dur":2,"args":{"device":0,"stream":7,"bytes":4}}]})json");
  EXPECT_EQ(imported->events("operator"), 1);
  EXPECT_EQ(imported->events("kernel"), 1);
  EXPECT_EQ(imported->events("copy"), 1);
  EXPECT_EQ(imported->events("dependencies"), 1);
}

// Values of CUPTI's counters are in the arguments of the ranges that they cover.
TEST(ImportKineto, HardwareCountersAreSamplesOfTheirDevice) {
  const auto imported = importText(R"json({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":0,"dur":9},
    {"ph":"X","cat":"cuda_profiler_range","name":"gemm","pid":0,"tid":0,"ts":10,"dur":5,
     "args":{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum":9119334400,"dram__bytes_read.sum.per_second":1.5e9}},
    {"ph":"X","cat":"cuda_profiler_range","name":"relu","pid":0,"tid":0,"ts":20,"dur":5,
     "args":{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum":0,"dram__bytes_read.sum.per_second":"n/a"}}]})json");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.eventsOf(EventKind::scope).size(), 2U);
  const auto ffma = imported->samples("gpu 0: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  ASSERT_EQ(ffma.size(), 2U);
  EXPECT_EQ(ffma[0].time_ns, imported->only("gemm").start_ns);
  EXPECT_EQ(ffma[0].value, 9119334400.0);
  EXPECT_EQ(ffma[1].time_ns, imported->only("relu").start_ns);
  EXPECT_EQ(ffma[1].value, 0);
  const auto read = imported->samples("gpu 0: dram__bytes_read.sum.per_second");
  ASSERT_EQ(read.size(), 1U) << "what is no number is counted as dropped";
  EXPECT_EQ(read[0].value, 1.5e9);
}

TEST(ImportKineto, CountedRangesBelongToLaunchesInOrderOfTime) {
  const std::string calls = R"json({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"cuda_profiler_range","name":"relu","pid":0,"tid":0,"ts":900,"dur":5,"args":{"inst.sum":1}},
    {"ph":"X","cat":"cuda_profiler_range","name":"gemm","pid":0,"tid":0,"ts":800,"dur":5,"args":{"inst.sum":2}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":30,"dur":2,"args":{"correlation":7}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":9,"ts":10,"dur":2,"args":{"correlation":6}},
    {"ph":"X","cat":"cuda_runtime","name":"cuLaunchKernel","pid":9,"tid":9,"ts":20,"dur":2,"args":{"correlation":5}})json";
  const auto imported = importText(calls + "]}");
  ASSERT_EQ(imported->error, "");
  const auto launchOf = [&](const char* range) -> TimeNs {
    for (const auto& dependency : imported->sink.all_dependencies) {
      if (dependency.kind != DependencyKind::launch || dependency.target != imported->only(range).correlation)
        continue;
      for (const char* call : {"cudaLaunchKernel", "cuLaunchKernel"}) {
        if (imported->only(call).correlation == dependency.source) return imported->only(call).start_ns;
      }
    }
    return -1;
  };
  EXPECT_EQ(launchOf("gemm"), imported->only("cuLaunchKernel").start_ns);
  EXPECT_EQ(launchOf("relu"), imported->only("cudaLaunchKernel").start_ns);

  const auto one_more = importText(
      calls +
      R"json(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":40,"dur":2,"args":{"correlation":8}}]})json");
  EXPECT_EQ(one_more->events("dependencies"), 0) << "which of them was not counted is not known";
  EXPECT_TRUE(std::any_of(
      one_more->summary.notes.begin(), one_more->summary.notes.end(),
      [](const std::string& note) { return note.find("2 ranges, 3 launches") != std::string::npos; }));
}

const char kMtia[] = R"json({"schemaVersion": 1, "traceEvents": [
{"ph":"X","cat":"mtia_ccp_events","name":"pe_exe","pid":17,"tid":1,"ts":100,"dur":20,"args":{"stream":1}},
{"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":17,"tid":1,"ts":110,"dur":5,"args":{"stream":1,"direction":"HOST_TO_DEVICE","size":4096}},
{"ph":"X","cat":"mtia_ccp_events","name":"event_wait","pid":17,"tid":1,"ts":120,"dur":500,"args":{"stream":1,"wait_on_stream":2}},
{"ph":"X","cat":"mtia_ccp_events","name":"event_record","pid":17,"tid":1,"ts":620,"dur":1,"args":{"stream":1}}]})json";

TEST(ImportKineto, MtiaCopiesAndWaitsAreNoKernels) {
  const auto imported = importText(kMtia);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("pe_exe").kind, EventKind::kernel);
  EXPECT_EQ(imported->only("dma_request HtoD").kind, EventKind::copy);
  EXPECT_EQ(imported->only("dma_request HtoD").value, 4096);
  EXPECT_EQ(imported->only("event_wait").kind, EventKind::wait);
  EXPECT_EQ(imported->only("event_record").kind, EventKind::wait);
  EXPECT_EQ(deviceUse(*imported)[17].busy_ns, 20000);
}

const char kFacts[] = R"json({"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "A GPU", "numSms": 108, "computeMajor": 8, "warpSize": 32}],
"distributedInfo": {"backend": "nccl", "rank": 1, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
"traceEvents": [
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":120,"dur":20,"args":{"device":0,"stream":7,"correlation":11,
 "registers per thread":40,"shared memory":400,"blocks per SM":4.7,"warps per SM":75.8,"grid":[512, 2, 1],"block":[256,1,1],"est. achieved occupancy %":75}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":150,"dur":20,"args":{"device":0,"stream":7,"correlation":12,
 "registers per thread":40,"shared memory":400,"blocks per SM":4.7,"warps per SM":75.8,"grid":[512, 2, 1],"block":[256,1,1],"est. achieved occupancy %":75}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":180,"dur":2,"args":{"device":0,"stream":7,"correlation":13,"grid":[1,1,1],"block":[9999999999,1,1]}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL","pid":0,"tid":20,"ts":200,"dur":20,"args":{"device":0,"stream":20,"correlation":14,
 "Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"Group size":2,"dtype":"BFloat16"}},
{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":230,"dur":1,"args":{"cuda_sync_kind":"Stream Wait Event","wait_on_stream":20,"device":0,"stream":7}},
{"ph":"X","cat":"python_function","name":"step","pid":5,"tid":5,"ts":100,"dur":150,"args":{"Python id":3}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":110,"dur":10,"args":{"Input Dims":[[64,3],[]],"Input type":["float","Scalar"]}}]})json";

TEST(ImportKineto, FactsOfKernelsAndArguments) {
  const auto imported = importText(kFacts);
  ASSERT_EQ(imported->error, "");
  const auto kernels = imported->named("gemm");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].second.kernel, kernels[1].second.kernel);
  const KernelFacts& facts = imported->sink.kernels.at(kernels[0].second.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{512, 2, 1}));
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(facts.registers_per_thread, 40);
  EXPECT_EQ(facts.dynamic_shared_bytes, 400);
  EXPECT_DOUBLE_EQ(facts.theoretical_occupancy, 0.75);
  const KernelFacts& bare = imported->sink.kernels.at(kernels[2].second.kernel.value - 1);
  EXPECT_EQ(bare.grid[0], 1);
  EXPECT_EQ(bare.block[0], 0);  // no number that fits
  EXPECT_EQ(imported->sink.text(kernels[0].second.args), "");
  const Event collective = imported->only("ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  EXPECT_EQ(collective.value, 2000);
  EXPECT_EQ(
      imported->sink.text(collective.args),
      R"({"collective":"allreduce","dtype":"BFloat16","in_elements":1000,"out_elements":1000,"group_size":2})");
  EXPECT_EQ(imported->sink.text(imported->only("Stream Wait Event").args),
            R"({"cuda_sync_kind":"Stream Wait Event","stream_wait":20})");
  EXPECT_EQ(imported->sink.text(imported->only("step").args), R"({"category":"python_function"})");
  EXPECT_EQ(imported->sink.text(imported->only("aten::mm").args), R"({"input_types":"float,Scalar"})");
  EXPECT_EQ(imported->sink.meta_values.at("device.gpu.0.num_sms"), "108");
  EXPECT_EQ(imported->sink.meta_values.at("device.gpu.0.compute_major"), "8");
  EXPECT_NE(imported->sink.meta_values.at("distributed.pg_config").find("pg_name"), std::string::npos);
}

// A graph launch starts many kernels with its one correlation; some precede it in the file.
TEST(ImportKineto, OneLaunchOfManyKernels) {
  const auto kernel = [](int ts) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":1,"ts":)" + std::to_string(ts) +
           R"(,"args":{"device":0,"stream":7,"correlation":4000000000}},)";
  };
  const auto imported = importText(
      R"({"traceEvents":[)" + kernel(20) + kernel(22) + kernel(24) +
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":5,"tid":5,"ts":10,"dur":2,"args":{"correlation":4000000000}},)" +
      kernel(26) +
      R"({"ph":"X","cat":"kernel","name":"other","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7,"correlation":9223372036854775807}}]})");
  ASSERT_EQ(imported->error, "");
  const CorrelationId launch = imported->only("cudaGraphLaunch").correlation;
  std::vector<CorrelationId> targets;
  for (const Dependency& edge : imported->sink.all_dependencies) {
    EXPECT_EQ(edge.source, launch);
    targets.push_back(edge.target);
  }
  std::vector<CorrelationId> kernels;
  for (const auto& [track, event] : imported->named("k")) kernels.push_back(event.correlation);
  std::sort(targets.begin(), targets.end());
  std::sort(kernels.begin(), kernels.end());
  EXPECT_EQ(targets, kernels);
  EXPECT_EQ(std::unique(kernels.begin(), kernels.end()), kernels.end());
  EXPECT_EQ(kernels.size(), 4U);
  EXPECT_NE(imported->only("other").correlation, 0U);
}

// PyTorch built without Kineto writes neither categories nor steps.
TEST(ImportKineto, ProfilesWithoutKinetoHaveOperators) {
  const auto imported = importText(R"json([
{"name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "ph": "X", "ts": 10, "dur": 30, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::linear", "ph": "X", "ts": 50, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::addmm", "ph": "X", "ts": 52, "dur": 15, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "my part", "ph": "X", "ts": 71, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "autograd::engine::evaluate_function: AddmmBackward0", "ph": "X", "ts": 80, "dur": 20, "tid": 2, "pid": "CPU functions", "args": {}},
{"name": "AddmmBackward0", "ph": "X", "ts": 82, "dur": 15, "tid": 2, "pid": "CPU functions", "args": {}},
{"name": "aten::mm", "ph": "X", "ts": 83, "dur": 10, "tid": 2, "pid": "CPU functions", "args": {}},
{"name": "Optimizer.step#SGD.step", "ph": "X", "ts": 110, "dur": 9, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::add_", "ph": "X", "ts": 112, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}}
])json");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "PyTorch profiler JSON (without Kineto)");
  EXPECT_EQ(imported->only("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__").kind,
            EventKind::dataWait);
  EXPECT_EQ(imported->only("aten::linear").kind, EventKind::operatorRun);
  EXPECT_EQ(imported->only("my part").kind, EventKind::scope);
  EXPECT_EQ(imported->only("Optimizer.step#SGD.step").kind, EventKind::scope);
  const auto phaseOf = [&](const char* name) {
    return imported->sink.facts.at(imported->only(name).op.value - 1).phase;
  };
  EXPECT_EQ(phaseOf("AddmmBackward0"), Phase::backward);
  EXPECT_EQ(phaseOf("aten::mm"), Phase::backward);
  EXPECT_EQ(phaseOf("aten::add_"), Phase::update);
}

// Another tool's process may have the name, with other categories.
TEST(ImportKineto, AProcessNamedCpuFunctionsAloneMakesNoOperators) {
  const auto imported = importText(
      R"json([{"name": "aten::mm", "cat": "mine", "ph": "X", "ts": 10, "dur": 30, "tid": 1, "pid": "CPU functions"}])json");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("aten::mm").kind, EventKind::scope);
}

}  // namespace
}  // namespace pitwall::test::kineto_test
