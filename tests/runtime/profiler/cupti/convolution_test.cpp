// End to end on a GPU with cuDNN: each kernel of a convolution is joined to the call that launched it, and
// that to the operator around it. Skipped where there is no GPU or no cuDNN.
#include <cudnn.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "runtime/profiler/cupti/collector.h"
#include "tests/runtime/profiler/cupti/gpu_driver.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::cupti::convolution_test {
namespace {

struct Cudnn {
  void* library = dlopen("libcudnn.so.9", RTLD_NOW);
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnCreateTensorDescriptor) createTensor = nullptr;
  decltype(&cudnnSetTensor4dDescriptor) setTensor = nullptr;
  decltype(&cudnnCreateFilterDescriptor) createFilter = nullptr;
  decltype(&cudnnSetFilter4dDescriptor) setFilter = nullptr;
  decltype(&cudnnCreateConvolutionDescriptor) createConvolution = nullptr;
  decltype(&cudnnSetConvolution2dDescriptor) setConvolution = nullptr;
  decltype(&cudnnConvolutionForward) forward = nullptr;

  bool loadAll() {
    return library != nullptr && test::loadFunction(library, "cudnnCreate", create) &&
           test::loadFunction(library, "cudnnCreateTensorDescriptor", createTensor) &&
           test::loadFunction(library, "cudnnSetTensor4dDescriptor", setTensor) &&
           test::loadFunction(library, "cudnnCreateFilterDescriptor", createFilter) &&
           test::loadFunction(library, "cudnnSetFilter4dDescriptor", setFilter) &&
           test::loadFunction(library, "cudnnCreateConvolutionDescriptor", createConvolution) &&
           test::loadFunction(library, "cudnnSetConvolution2dDescriptor", setConvolution) &&
           test::loadFunction(library, "cudnnConvolutionForward", forward);
  }
};

// 8 images of 16 channels, 3x3 kernels, padding 1: 32x32 stays 32x32, 32 output channels.
class Convolution {
 public:
  Convolution(const Cudnn& library, const test::GpuDriver& driver) : library_(library) {
    good_ = ok(library.create(&handle_)) && ok(library.createTensor(&x_)) && ok(library.createTensor(&y_)) &&
            ok(library.createFilter(&w_)) && ok(library.createConvolution(&convolution_)) &&
            ok(library.setTensor(x_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 16, 32, 32)) &&
            ok(library.setTensor(y_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 32, 32, 32)) &&
            ok(library.setFilter(w_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 32, 16, 3, 3)) &&
            ok(library.setConvolution(convolution_, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                      CUDNN_DATA_FLOAT)) &&
            driver.alloc(&x_data_, 8 * 16 * 32 * 32 * 4) == CUDA_SUCCESS &&
            driver.alloc(&y_data_, 8 * 32 * 32 * 32 * 4) == CUDA_SUCCESS &&
            driver.alloc(&w_data_, 32 * 16 * 3 * 3 * 4) == CUDA_SUCCESS;
  }
  bool good() const { return good_; }

  // Implicit GEMM needs no workspace.
  bool forward() {
    const float one = 1, zero = 0;
    return ok(library_.forward(handle_, &one, x_, pointer(x_data_), w_, pointer(w_data_), convolution_,
                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &zero, y_,
                               pointer(y_data_)));
  }

 private:
  static bool ok(cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; }
  static void* pointer(CUdeviceptr data) { return reinterpret_cast<void*>(data); }

  const Cudnn& library_;
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  CUdeviceptr x_data_ = 0, y_data_ = 0, w_data_ = 0;
  bool good_ = false;
};

TEST(CuptiGpu, AConvolutionOfCudnn) {
  test::GpuDriver driver;
  if (const std::string missing = driver.missing(); !missing.empty()) GTEST_SKIP() << missing;
  Cudnn library;
  if (!library.loadAll()) GTEST_SKIP() << "no cuDNN 9";
  const auto kept = std::make_shared<test::Kept>();
  Profiler profiler;
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  if (const Status status = attach(profiler); !status.has_value()) GTEST_SKIP() << status.error().message;

  ASSERT_TRUE(driver.useFirst());
  Convolution convolution(library, driver);
  ASSERT_TRUE(convolution.good());
  ASSERT_TRUE(convolution.forward()) << "what is set up once is outside of the operator";
  ASSERT_EQ(driver.synchronize(), CUDA_SUCCESS);
  constexpr CorrelationId kOperator = 43;
  constexpr int kTimes = 20;
  {
    const OperatorScope scope(kOperator);
    for (int i = 0; i < kTimes; ++i) ASSERT_TRUE(convolution.forward());
  }
  ASSERT_EQ(driver.synchronize(), CUDA_SUCCESS);
  detach();
  ASSERT_TRUE(profiler.stop().has_value());

  const test::MemorySink& trace = kept->memory;
  std::map<CorrelationId, const Event*> by_correlation;
  for (const auto& [track, event] : trace.all_events)
    if (event.correlation != 0) by_correlation[event.correlation] = &event;
  std::set<CorrelationId> of_operator, launches;
  for (const Dependency& dependency : trace.all_dependencies)
    if (dependency.source == kOperator) of_operator.insert(dependency.target);
  int kernels = 0;
  for (const Dependency& dependency : trace.all_dependencies) {
    const auto call = by_correlation.find(dependency.source);
    const auto work = by_correlation.find(dependency.target);
    if (call == by_correlation.end() || work == by_correlation.end()) continue;
    if (work->second->kind != EventKind::kernel) continue;
    EXPECT_GE(work->second->start_ns, call->second->start_ns) << "a kernel before its launch";
    if (of_operator.count(dependency.source) == 0 && of_operator.count(dependency.target) == 0) continue;
    ++kernels;
    launches.insert(dependency.source);
  }
  EXPECT_GE(kernels, kTimes);
  EXPECT_EQ(kernels % kTimes, 0) << "each convolution launches the same kernels";
  EXPECT_EQ(launches.size(), static_cast<std::size_t>(kernels)) << "one launch each";
  EXPECT_TRUE(trace.losses.empty());
}

}  // namespace
}  // namespace pitwall::cupti::convolution_test
