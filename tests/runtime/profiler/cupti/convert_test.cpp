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

CUpti_ActivityUnifiedMemoryCounter3 unified(CUpti_ActivityUnifiedMemoryCounterKind kind) {
  auto record = blank<CUpti_ActivityUnifiedMemoryCounter3>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  record.counterKind = kind;
  record.start = 100, record.end = 250;
  record.value = 65536;
  record.srcId = 1, record.dstId = 2;
  return record;
}

TEST(CuptiConvert, MigrationsOfManagedMemory) {
  const std::uint32_t host = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
  auto record = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
  record.srcId = host;
  record.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE;
  const Activities to_device = converted(record);
  ASSERT_EQ(to_device.events.size(), 1U);
  EXPECT_TRUE(to_device.uses_managed_memory);
  const Activity& migration = to_device.events[0];
  EXPECT_EQ(migration.name->text, "Memcpy UVM HtoD (Managed -> Managed)");
  EXPECT_EQ(migration.args->text, R"({"cause":"page fault"})");
  EXPECT_EQ(migration.kind, EventKind::copy);
  EXPECT_EQ(migration.place, Activity::Place::migrations);
  EXPECT_EQ(migration.value, 65536);
  EXPECT_EQ(migration.device, 2U);
  EXPECT_EQ(migration.start, 100U);
  EXPECT_EQ(migration.end, 250U);
  record.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER;
  EXPECT_EQ(converted(record).events.at(0).name->text, "Memcpy UVM HtoD (Managed -> Managed), requested");
  auto back = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  back.dstId = host;
  EXPECT_EQ(converted(back).events.at(0).name->text, "Memcpy UVM DtoH (Managed -> Managed)");
  EXPECT_EQ(converted(back).events.at(0).device, 1U);
  EXPECT_EQ(converted(back).events.at(0).args, nullptr);
  const auto between = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
  EXPECT_EQ(converted(between).events.at(0).name->text, "Memcpy UVM DtoD (Managed -> Managed)");
  EXPECT_EQ(converted(between).events.at(0).device, 2U);
  back.end = 0;
  EXPECT_EQ(converted(back).without_time, 1);
}

TEST(CuptiConvert, PageFaultsOfManagedMemory) {
  auto gpu = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
  gpu.value = 7;
  gpu.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE;
  const Activities faults = converted(gpu);
  EXPECT_EQ(faults.events.at(0).name->text, "GPU page fault (write)");
  EXPECT_EQ(faults.events.at(0).kind, EventKind::scope);
  EXPECT_EQ(faults.events.at(0).place, Activity::Place::pageFaults);
  EXPECT_EQ(faults.events.at(0).device, 1U);
  EXPECT_EQ(faults.events.at(0).value, 7);
  EXPECT_EQ(faults.events.at(0).end, 250U);
  auto cpu = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
  cpu.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ;
  cpu.end = 0;  // not to be read, like the value, which is an instruction's address
  const Activities of_host = converted(cpu);
  EXPECT_EQ(of_host.events.at(0).name->text, "CPU page fault (read)");
  EXPECT_EQ(of_host.events.at(0).kind, EventKind::instant);
  EXPECT_EQ(of_host.events.at(0).end, 100U);
  EXPECT_EQ(of_host.events.at(0).value, 0);
  EXPECT_FALSE(of_host.events.at(0).device);
}

TEST(CuptiConvert, WhatTheDriverDoesAgainstThrashing) {
  const auto thrashing = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
  EXPECT_EQ(converted(thrashing).events.at(0).kind, EventKind::instant);
  EXPECT_EQ(converted(thrashing).events.at(0).value, 65536);
  EXPECT_FALSE(converted(thrashing).events.at(0).device);
  auto throttling = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING);
  EXPECT_EQ(converted(throttling).events.at(0).kind, EventKind::scope);
  EXPECT_EQ(converted(throttling).events.at(0).device, 1U);
  throttling.flags = CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU;
  EXPECT_FALSE(converted(throttling).events.at(0).device);
  auto remote = unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
  EXPECT_EQ(converted(remote).events.at(0).device, 2U);
  remote.dstId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
  EXPECT_FALSE(converted(remote).events.at(0).device);
  EXPECT_EQ(converted(unified(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN)).unknown, 1);
}

// Explicit copies and allocations show it too.
TEST(CuptiConvert, UseOfManagedMemory) {
  auto copy = blank<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  place(copy);
  copy.srcKind = copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  EXPECT_FALSE(converted(copy).uses_managed_memory);
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  EXPECT_TRUE(converted(copy).uses_managed_memory);
  auto memory = blank<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  EXPECT_FALSE(converted(memory).uses_managed_memory);
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  EXPECT_TRUE(converted(memory).uses_managed_memory);
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
