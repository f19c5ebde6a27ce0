// Arrays on several devices: results, accounts, copies, errors, and what the trace names.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "runtime/operators/support/copy.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::device_test {
namespace {

using Floats = std::vector<float>;

const char* const kEngines[] = {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"};

struct DeviceTest : testing::TestWithParam<const char*> {
  Storage& storageOf(Device device) { return *must(session->storage(device)); }
  Bytes liveBytes(Device device) { return storageOf(device).total().live_bytes; }

  std::unique_ptr<Session> session = openSession("reference", {{"MXNET_ENGINE_TYPE", GetParam()}});
};

std::string messageOf(const Result<NDArray>& result) {
  return result.has_value() ? "" : result.error().message;
}

TEST_P(DeviceTest, ArraysAreWhereTheyWereMade) {
  const Floats values{1, 2, 3};
  EXPECT_EQ(NDArray::fromValues(*session, {3}, values).device(), cpu(0));
  const NDArray there = NDArray::fromValues(*session, {3}, values, MemoryTag::data, cpu(1));
  EXPECT_EQ(there.device(), cpu(1));
  EXPECT_EQ(must(there.toVector()), values);
  const NDArray zeros = NDArray::zeros(*session, {2}, MemoryTag::weights, cpu(2));
  EXPECT_EQ(must(zeros.toVector()), (Floats{0, 0}));
  EXPECT_EQ(must(zeros.reshape({2, 1})).device(), cpu(2));
  EXPECT_EQ(must(op::add(there, there)).device(), cpu(1));
  EXPECT_EQ(must(op::divideScalarBy(6, there)).device(), cpu(1));
  EXPECT_EQ(must(must(op::divideScalarBy(6, there)).toVector()), (Floats{6, 3, 2}));
}

TEST_P(DeviceTest, CopiesAndComputesOnBoth) {
  NDArray here = NDArray::fromValues(*session, {4}, Floats{1, 2, 3, 4});
  const NDArray there = must(must(op::multiplyScalar(here, 2)).copyTo(cpu(1)));
  must(here.copyFrom(Floats{0, 0, 0, 0}));  // after the copy was pushed: it does not see this
  const NDArray sum = must(op::addScalar(there, 1));
  const NDArray back = must(sum.copyTo(cpu(0)));
  const NDArray result = must(op::add(back, must(op::addScalar(here, 10))));
  EXPECT_EQ(result.device(), cpu(0));
  EXPECT_EQ(must(result.toVector()), (Floats{13, 15, 17, 19}));
  EXPECT_EQ(must(there.toVector()), (Floats{2, 4, 6, 8}));
}

TEST_P(DeviceTest, ACopyIsIndependentAlsoOnTheSameDevice) {
  NDArray original = NDArray::fromValues(*session, {2}, Floats{1, 2});
  NDArray copy = must(original.copyTo(cpu(0)));
  must(copy.copyFrom(Floats{7, 8}));
  EXPECT_EQ(must(original.toVector()), (Floats{1, 2}));
  EXPECT_EQ(must(copy.toVector()), (Floats{7, 8}));
}

TEST_P(DeviceTest, EachDeviceHasItsAccounts) {
  must(session->engine().waitForAll());
  const Bytes before = liveBytes(cpu(0));
  EXPECT_EQ(liveBytes(cpu(1)), 0);
  {
    const NDArray here = arrayOf(*session, {100}, 1);
    const NDArray there = must(here.copyTo(cpu(1)));
    const NDArray doubled = must(op::add(there, there));
    must(session->engine().waitForAll());
    EXPECT_EQ(liveBytes(cpu(0)) - before, 400);
    EXPECT_EQ(liveBytes(cpu(1)), 800);
    EXPECT_EQ(storageOf(cpu(1)).usage(MemoryTag::data).live_bytes, 400) << "a copy keeps the tag";
    EXPECT_EQ(storageOf(cpu(1)).device(), cpu(1));
    EXPECT_EQ(&storageOf(cpu(0)), &session->storage());
  }
  must(session->engine().waitForAll());
  EXPECT_EQ(liveBytes(cpu(0)), before);
  EXPECT_EQ(liveBytes(cpu(1)), 0);
  EXPECT_EQ(storageOf(cpu(1)).total().peak_bytes, 800);
}

TEST_P(DeviceTest, MixedDevicesAreAnErrorOfTheCall) {
  const NDArray here = arrayOf(*session, {3}, 1);
  NDArray there = must(here.copyTo(cpu(1)));
  for (const auto& mixed : {op::add(here, there, CallSite("sum1")), op::multiply(there, here)}) {
    ASSERT_FALSE(mixed.has_value());
    EXPECT_EQ(mixed.error().code, ErrorCode::invalidInput);
    for (const char* part : {"elemwise_", "cpu(0)", "cpu(1)", "copyTo"})
      EXPECT_NE(mixed.error().message.find(part), std::string::npos) << mixed.error().message;
  }
  EXPECT_EQ(messageOf(op::add(here, there, CallSite("sum1"))).find("sum1: elemwise_add: "), 0U);
  there.attachGradient();
  const NDArray y = must(autograd::record([&] { return op::multiply(there, there); }));
  const Status wrong_head = autograd::backward(y, here);
  ASSERT_FALSE(wrong_head.has_value());
  EXPECT_NE(wrong_head.error().message.find("head gradient on cpu(0)"), std::string::npos)
      << wrong_head.error().message;
}

TEST_P(DeviceTest, DevicesThatDoNotExistAreNamed) {
  const NDArray here = arrayOf(*session, {3}, 1);
  for (const Device device : {gpu(0), pinned(0)}) {
    const auto copied = here.copyTo(device);
    ASSERT_FALSE(copied.has_value());
    EXPECT_EQ(copied.error().code, ErrorCode::unsupported);
    EXPECT_NE(copied.error().message.find(toString(device)), std::string::npos) << copied.error().message;
    EXPECT_EQ(session->storage(device).error().code, ErrorCode::unsupported);
    // An array is made without a call that could fail: the wait reports it.
    const Status waited = NDArray::zeros(*session, {3}, MemoryTag::other, device).waitToRead();
    ASSERT_FALSE(waited.has_value());
    EXPECT_EQ(waited.error().code, ErrorCode::unsupported);
    EXPECT_NE(waited.error().message.find(toString(device)), std::string::npos) << waited.error().message;
  }
  const auto no_backend = session->backend(gpu(3));
  ASSERT_FALSE(no_backend.has_value());
  EXPECT_EQ(no_backend.error().code, ErrorCode::unsupported);
  EXPECT_NE(no_backend.error().message.find("gpu(3)"), std::string::npos) << no_backend.error().message;
  EXPECT_EQ(must(session->backend(cpu(7))), &session->backend());
  for (const int index : {-1, 64}) {
    EXPECT_EQ(here.copyTo(cpu(index)).error().code, ErrorCode::invalidInput);
    EXPECT_EQ(session->storage(cpu(index)).error().code, ErrorCode::invalidInput);
    EXPECT_EQ(session->backend(cpu(index)).error().code, ErrorCode::invalidInput);
  }
}

TEST_P(DeviceTest, ErrorsTravelWithACopy) {
  const NDArray unwritten = NDArray::empty(*session, {4});
  const Status never = must(unwritten.copyTo(cpu(1))).waitToRead();
  ASSERT_FALSE(never.has_value());
  EXPECT_NE(never.error().message.find("never written"), std::string::npos) << never.error().message;
  const NDArray huge = NDArray::zeros(*session, {std::int64_t{1} << 30, std::int64_t{1} << 28});
  EXPECT_EQ(must(huge.copyTo(cpu(1))).waitToRead().error().code, ErrorCode::io);
}

TEST_P(DeviceTest, GradientsFlowBackThroughCopies) {
  NDArray x = NDArray::fromValues(*session, {2}, Floats{3, 4});
  x.attachGradient();
  const NDArray y = must(autograd::record([&]() -> Result<NDArray> {
    const NDArray there = must(x.copyTo(cpu(1)));
    return must(op::multiply(there, there)).copyTo(cpu(2));
  }));
  EXPECT_EQ(y.device(), cpu(2));
  must(autograd::backward(y));
  EXPECT_EQ(x.gradient().device(), cpu(0));
  EXPECT_EQ(must(x.gradient().toVector()), (Floats{6, 8}));
}

TEST_P(DeviceTest, ANetworkTrainsOnTheDeviceOfItsData) {
  const auto train = [](Session& on, Device device) {
    nn::Sequential net;
    net.add(nn::Conv2D("conv1", {.channels = 3, .kernel = {3, 3}})).add(nn::BatchNorm("norm1"));
    net.add(nn::Dense("dense1", {.units = 4}));
    nn::SoftmaxCrossEntropy loss_function("loss");
    Sgd optimizer(net.parameters(), {.rate = 0.1F, .momentum = 0.9F});
    const NDArray data = must(arrayOf(on, {2, 1, 6, 6}, 1).copyTo(device));
    const NDArray label = NDArray::fromValues(on, {2}, Floats{1, 3}, MemoryTag::data, device);
    NDArray loss;
    for (int i = 0; i < 3; ++i) {
      loss = must(autograd::record([&] { return loss_function.forward(must(net.forward(data)), label); }));
      must(autograd::backward(loss));
      must(optimizer.step(2));
    }
    EXPECT_EQ(loss.device(), device);
    return must(loss.toVector());
  };
  const Floats expected = train(*session, cpu(0));
  EXPECT_EQ(train(*session, cpu(3)), expected);
  EXPECT_GT(storageOf(cpu(3)).usage(MemoryTag::weights).peak_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, DeviceTest, testing::ValuesIn(kEngines),
                         [](const auto& engine) { return std::string(engine.param); });

// With the library's own layouts: the copy keeps them.
TEST(DeviceLayouts, EveryBackendComputesTheSameOnEachDevice) {
  for (const std::string& backend : computingBackends()) {
    const auto session = openSession(backend);
    const NDArray data = arrayOf(*session, {2, 16, 8, 8}, 1), weight = arrayOf(*session, {16, 16, 3, 3}, 2);
    const ConvolutionDesc desc{.kernel = {3, 3}, .channels = 16, .bias = false};
    const NDArray here = must(op::convolution(data, {weight, {}}, desc));
    const NDArray moved = must(here.copyTo(cpu(1)));
    EXPECT_EQ(must(moved.toVector()), must(here.toVector())) << backend;
    const NDArray there =
        must(op::convolution(must(data.copyTo(cpu(1))), {must(weight.copyTo(cpu(1))), {}}, desc));
    EXPECT_EQ(must(there.toVector()), must(here.toVector())) << backend;
    EXPECT_EQ(must(must(op::activation(moved, {})).toVector()),
              must(must(op::activation(here, {})).toVector()));
  }
}

TEST(CopyPlacement, CopiesOfAGpuRunInItsCopyPool) {
  const auto placed = [](Device from, Device to) {
    const CopyPlacement placement = placementOfCopy(from, to);
    return std::pair(placement.device, placement.operator_class);
  };
  EXPECT_EQ(placed(cpu(0), cpu(1)), std::pair(cpu(1), OperatorClass::normal));
  EXPECT_EQ(placed(pinned(0), cpu(0)), std::pair(cpu(0), OperatorClass::normal));
  EXPECT_EQ(placed(cpu(0), gpu(2)), std::pair(gpu(2), OperatorClass::copyToGpu));
  EXPECT_EQ(placed(gpu(2), cpu(0)), std::pair(gpu(2), OperatorClass::copyFromGpu));
  EXPECT_EQ(placed(gpu(1), gpu(2)), std::pair(gpu(1), OperatorClass::copyFromGpu));
}

// What the trace holds of a program on two devices.
class DeviceRecording : public testing::TestWithParam<const char*> {
 protected:
  DeviceRecording() {
    auto owned = std::make_unique<MemorySink>();
    sink = owned.get();  // until the recording stops
    must(session->profiler().start(std::move(owned)));
    const NDArray here = arrayOf(*session, {10}, 1);
    const NDArray there = must(here.copyTo(cpu(1)));
    must(must(op::addScalar(there, 1)).waitToRead());
    must(must(op::multiplyScalar(here, 2)).waitToRead());
    session->markIteration(1);
    must(session->engine().waitForAll());
    must(session->profiler().flush());
  }
  // Else any worker, or the program's thread, runs operators of all devices.
  static bool hasWorkersOfDevices() { return GetParam() == std::string("ThreadedEnginePerDevice"); }
  // The event of the first operator with this name, and the name of its thread.
  std::pair<Event, std::string> find(const std::string& name) const {
    for (const auto& [track, event] : sink->all_events) {
      if (event.kind == EventKind::operatorRun && sink->text(event.name) == name)
        return {event, sink->threads.at(sink->tracks.at(track.value - 1).thread.value - 1).name};
    }
    ADD_FAILURE() << name;
    return {};
  }

  std::unique_ptr<Session> session = openSession("reference", {{"MXNET_ENGINE_TYPE", GetParam()}});
  MemorySink* sink = nullptr;
};

TEST_P(DeviceRecording, OperatorsNameTheirDevice) {
  const auto [copy, copy_thread] = find("Copy");
  EXPECT_EQ(sink->text(copy.args), R"({"device":"cpu/1"})");
  const OperatorFacts& facts = sink->facts.at(copy.op.value - 1);
  EXPECT_EQ(facts.bytes_read, 40);
  EXPECT_EQ(facts.bytes_written, 40);
  EXPECT_EQ(facts.shapes, "10->10");
  EXPECT_EQ(facts.implementation, "cpu/0 to cpu/1");
  const auto [plus, plus_thread] = find("_plus_scalar");
  EXPECT_EQ(sink->text(plus.args), R"({"device":"cpu/1"})");
  const auto [multiply, multiply_thread] = find("_mul_scalar");
  EXPECT_EQ(sink->text(multiply.args), "");
  if (hasWorkersOfDevices()) {
    EXPECT_EQ(copy_thread, "cpu1 worker 0");
    EXPECT_EQ(plus_thread, "cpu1 worker 0");
    EXPECT_EQ(multiply_thread, "cpu worker 0");
  }
}

TEST_P(DeviceRecording, MemoryIsCountedByDevice) {
  std::set<std::string> names;
  for (const TrackInfo& track : sink->tracks)
    if (track.kind == TrackKind::counter) names.insert(track.name);
  for (const char* name : {"memory live: data", "memory live: cpu/1 data", "memory live: cpu/1 activations",
                           "memory reserved: cpu/0", "memory reserved: cpu/1"})
    EXPECT_TRUE(names.contains(name)) << name;
  // Each once: cpu(1) has a storage; cpu(0), a fact of a session's own trace, is named here by its workers alone.
  std::vector<std::string> devices;
  for (const DeviceInfo& device : sink->devices)
    devices.push_back(device.kind + "/" + std::to_string(device.index));
  std::sort(devices.begin(), devices.end());
  using Names = std::vector<std::string>;
  EXPECT_EQ(devices, hasWorkersOfDevices() ? (Names{"cpu/0", "cpu/1"}) : Names{"cpu/1"});
}

TEST_P(DeviceRecording, TracksOfWorkersNameTheDeviceOfTheirOperators) {
  std::map<std::string, std::string> device_of;  // by thread; "" = none
  for (const TrackInfo& track : sink->tracks) {
    if (track.kind != TrackKind::thread) continue;
    const DeviceInfo device = track.device ? sink->devices.at(track.device.value - 1) : DeviceInfo{};
    device_of[track.name] = track.device ? device.kind + "/" + std::to_string(device.index) : "";
  }
  if (hasWorkersOfDevices()) {
    EXPECT_EQ(device_of.at("cpu1 worker 0"), "cpu/1");
    EXPECT_EQ(device_of.at("cpu worker 0"), "cpu/0");
  }
  for (const auto& [thread, device] : device_of) {
    const bool is_of_device = thread == "cpu worker 0" || thread == "cpu1 worker 0";
    EXPECT_EQ(device.empty(), !is_of_device) << thread << " may run operators of any device";
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, DeviceRecording, testing::ValuesIn(kEngines),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace pitwall::test::device_test
