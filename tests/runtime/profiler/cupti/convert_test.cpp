// CUPTI's records, built by hand, into activities.
#include "runtime/profiler/cupti/convert.h"

#include <gmock/gmock.h>

#include <cstring>

namespace pitwall::cupti::convert_test {
namespace {

using ::testing::ElementsAre;

const char* name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (id == 999) return nullptr;
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000" : "cuMemAlloc_v2";
}

template <class Record>
Record blank(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

template <class Record>
Activities converted(const Record& record) {
  Activities activities;
  static Names names(name);  // the texts stay
  convert(reinterpret_cast<const CUpti_Activity&>(record), names, activities);
  return activities;
}

template <class Record>
void place(Record& record) {
  record.start = 100;
  record.end = 250;
  record.deviceId = 2;
  record.contextId = 3;
  record.streamId = 4;
  record.correlationId = 5;
}

TEST(CuptiConvert, Kernel) {
  auto record = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  place(record);
  record.name = "_Z4gemmPfi";
  record.gridX = 10, record.gridY = 2, record.gridZ = 1;
  record.blockX = 128, record.blockY = 1, record.blockZ = 1;
  record.registersPerThread = 40;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 2048;
  record.sharedMemoryExecuted = 65536;
  record.localMemoryPerThread = 8;
  record.graphId = 6;
  const Activities all = converted(record);
  ASSERT_EQ(all.events.size(), 1U);
  const Activity& activity = all.events[0];
  EXPECT_EQ(activity.name->text, "gemm(float*, int)");
  EXPECT_EQ(activity.kind, EventKind::kernel);
  EXPECT_EQ(activity.start, 100U);
  EXPECT_EQ(activity.end, 250U);
  EXPECT_EQ(activity.device, 2U);
  EXPECT_EQ(activity.stream, 4U);
  EXPECT_EQ(activity.correlation, 5U);
  EXPECT_EQ(activity.args->text, R"({"graph":6})");
  ASSERT_EQ(activity.launch, 0);
  const LaunchFacts& launch = all.launches.at(0);
  EXPECT_THAT(launch.grid, ElementsAre(10, 2, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(launch.registers_per_thread, 40);
  EXPECT_EQ(launch.static_shared_bytes, 1024);
  EXPECT_EQ(launch.dynamic_shared_bytes, 2048);
  EXPECT_EQ(launch.shared_bytes_configured, 65536);
  EXPECT_EQ(launch.local_bytes, 8);
}

// Memory of a module that was unloaded may hold the name of another kernel.
TEST(CuptiConvert, AKernelsNameIsThatOfNow) {
  Names names(name);
  char mangled[] = "_Z4gemmPfi";
  const Text* const gemm = names.kernel(mangled);
  EXPECT_EQ(gemm->text, "gemm(float*, int)");
  EXPECT_EQ(names.kernel(mangled), gemm);
  mangled[3] = 'h';
  EXPECT_EQ(names.kernel(mangled)->text, "hemm(float*, int)");
  EXPECT_EQ(gemm->text, "gemm(float*, int)");
  EXPECT_EQ(names.kernel("not mangled")->text, "not mangled");
}

// CUPTI gives 0 when the GPU had no space to record the times.
TEST(CuptiConvert, WithoutTimesIsALoss) {
  auto record = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  record.name = "k";
  const Activities all = converted(record);
  EXPECT_TRUE(all.events.empty());
  EXPECT_EQ(all.without_time, 1);
}

TEST(CuptiConvert, CopiesAndSets) {
  auto copy = blank<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  place(copy);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 4096;
  EXPECT_EQ(converted(copy).events.at(0).name->text, "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(converted(copy).events.at(0).kind, EventKind::copy);
  EXPECT_EQ(converted(copy).events.at(0).value, 4096);
  auto peer = blank<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  place(peer);
  peer.srcKind = peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  peer.srcDeviceId = 0, peer.dstDeviceId = 1;
  EXPECT_EQ(converted(peer).events.at(0).name->text, "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(converted(peer).events.at(0).args->text, R"({"from_device":0,"to_device":1})");
  auto set = blank<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  place(set);
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  set.bytes = 64;
  EXPECT_EQ(converted(set).events.at(0).name->text, "Memset (Device)");
  EXPECT_EQ(converted(set).events.at(0).value, 64);
}

TEST(CuptiConvert, Calls) {
  auto record = blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  record.start = 1, record.end = 2;
  record.threadId = 77;
  record.correlationId = 5;
  const Activities runtime = converted(record);
  EXPECT_EQ(runtime.events.at(0).name->text, "cudaLaunchKernel");
  EXPECT_EQ(runtime.events.at(0).tid, 77);
  EXPECT_EQ(runtime.events.at(0).place, Activity::Place::thread);
  EXPECT_FALSE(runtime.events.at(0).is_driver_call);
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.returnValue = 2;
  EXPECT_EQ(converted(record).events.at(0).name->text, "cuMemAlloc_v2");
  EXPECT_EQ(converted(record).events.at(0).args->text, R"({"return_value":2})");
  EXPECT_TRUE(converted(record).events.at(0).is_driver_call);
  record.cbid = 999;
  EXPECT_EQ(converted(record).events.at(0).name->text, "driver function 999");
}

TEST(CuptiConvert, Versions) {
  EXPECT_EQ(withoutVersion("cudaMalloc_v3020"), "cudaMalloc");
  EXPECT_EQ(withoutVersion("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(withoutVersion("cudaLaunch_virtual"), "cudaLaunch_virtual");
  EXPECT_EQ(withoutVersion("_v"), "_v");
}

TEST(CuptiConvert, SynchronisationGraphsAndOverhead) {
  auto sync = blank<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  sync.streamId = 0xFFFFFFFFU;
  sync.contextId = 9;
  const Activities waits = converted(sync);
  EXPECT_EQ(waits.events.at(0).kind, EventKind::wait);
  EXPECT_EQ(waits.events.at(0).place, Activity::Place::synchronisation);
  EXPECT_EQ(waits.events.at(0).args->text, R"({"cuda_sync_kind":"Context Sync"})");
  EXPECT_EQ(waits.events.at(0).stream, 0U);
  EXPECT_FALSE(waits.events.at(0).device);
  EXPECT_FALSE(waits.events.at(0).may_be_query);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  EXPECT_TRUE(converted(sync).events.at(0).may_be_query);
  sync.returnValue = CUDA_ERROR_NOT_READY;
  EXPECT_TRUE(converted(sync).events.empty()) << "a query";
  auto graph = blank<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  place(graph);
  graph.graphId = 12;
  EXPECT_EQ(converted(graph).events.at(0).name->text, "CUDA graph 12");
  auto overhead = blank<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  EXPECT_EQ(converted(overhead).events.at(0).kind, EventKind::recorder);
  EXPECT_EQ(converted(overhead).events.at(0).name->text, "CUPTI flushes buffers");
}

TEST(CuptiConvert, MemoryDevicesContextsAndLinks) {
  auto memory = blank<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.bytes = 32;
  memory.timestamp = 44;
  EXPECT_EQ(converted(memory).memory.at(0).delta, -32);
  EXPECT_EQ(converted(memory).memory.at(0).kind, "device");
  auto device = blank<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.id = 1;
  device.name = "A GPU";
  device.globalMemorySize = 1 << 20;
  device.maxWarpsPerMultiprocessor = 64;
  device.maxRegistersPerMultiprocessor = 65536;
  device.computeCapabilityMajor = 9;
  const DeviceFacts facts = converted(device).devices.at(0);
  EXPECT_EQ(facts.index, 1U);
  EXPECT_EQ(facts.name, "A GPU");
  EXPECT_EQ(facts.limits.warps, 64);
  EXPECT_EQ(facts.limits.registers, 65536);
  EXPECT_EQ(facts.limits.compute_major, 9);
  auto context = blank<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 3, context.deviceId = 1;
  EXPECT_EQ(converted(context).contexts.at(0).device, 1U);
  auto link = blank<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  link.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  link.externalId = 42, link.correlationId = 5;
  EXPECT_EQ(converted(link).links.at(0).op, 42U);
  EXPECT_EQ(converted(link).links.at(0).correlation, 5U);
  link.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;  // of another tool
  EXPECT_TRUE(converted(link).links.empty());
  EXPECT_EQ(converted(blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_PCIE)).unknown, 1);
}

}  // namespace
}  // namespace pitwall::cupti::convert_test
