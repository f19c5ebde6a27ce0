#include "runtime/backend/cuda/cudnn_api.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <map>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/backend/cuda/open_library.h"

namespace pitwall::cuda {

namespace {

constexpr char kCudnnLibrary[] = "libcudnn.so.9";
// The graph interface takes the properties of a GPU in place of a handle from this version on.
constexpr std::size_t kLeastCudnn = 90800;

Result<CudnnApi> loadCudnn() {
  void* const library = PITWALL_TRY(openLibrary(kCudnnLibrary));
  CudnnApi api;
#define PITWALL_LOAD(name) \
  api.name = reinterpret_cast<decltype(api.name)>(PITWALL_TRY(functionOf(library, kCudnnLibrary, #name)));
  PITWALL_CUDNN_FUNCTIONS(PITWALL_LOAD)
#undef PITWALL_LOAD
  if (const std::size_t version = api.cudnnGetVersion(); version < kLeastCudnn)
    return fail(ErrorCode::unsupported, fmt::format("cuDNN {}.{}.{} is too old: install 9.8 or newer",
                                                    version / 10000, version / 100 % 100, version % 100));
  return api;
}

struct Handle {
  cudnnHandle_t handle = nullptr;
  void* stream = nullptr;
};

// Handles of threads that have ended, by GPU, for later ones. Never destroyed: when the process ends, the driver may have ended before.
class FreeHandles {
 public:
  static FreeHandles& all() {
    static auto* const free = new FreeHandles;
    return *free;
  }
  Handle take(int device) {
    const ScopedLock lock(mutex_);
    std::vector<Handle>& of_device = free_[device];
    if (of_device.empty()) return {};
    const Handle taken = of_device.back();
    of_device.pop_back();
    return taken;
  }
  void give(int device, const Handle& handle) {
    const ScopedLock lock(mutex_);
    free_[device].push_back(handle);
  }

 private:
  Mutex mutex_;
  std::map<int, std::vector<Handle>> free_ PITWALL_GUARDED_BY(mutex_);
};

// Of one thread, by GPU.
class Handles {
 public:
  explicit Handles(const CudnnApi& api) : api_(api) {}
  ~Handles() {
    for (const auto& [device, handle] : handles_) FreeHandles::all().give(device, handle);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  Result<cudnnHandle_t> on(void* stream) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return fail(ErrorCode::internal, "cudaGetDevice failed");
    const auto [at, is_new] = handles_.try_emplace(device);
    Handle& own = at->second;
    if (is_new) own = FreeHandles::all().take(device);
    if (own.handle == nullptr) PITWALL_TRY(api_.statusOf(api_.cudnnCreate(&own.handle), "cudnnCreate"));
    // A stream may have the address of one that has been destroyed.
    if (is_new || own.stream != stream) {
      PITWALL_TRY(api_.statusOf(api_.cudnnSetStream(own.handle, static_cast<cudaStream_t>(stream)),
                                "cudnnSetStream"));
      own.stream = stream;
    }
    return own.handle;
  }

 private:
  const CudnnApi& api_;
  std::map<int, Handle> handles_;
};

}  // namespace

Status CudnnApi::statusOf(cudnnStatus_t status, std::string_view what) const {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  std::array<char, 512> detail{};
  cudnnGetLastErrorString(detail.data(), detail.size());
  const bool unsupported = status / 1000 == 3;  // cuDNN's class of what it has not
  return fail(unsupported ? ErrorCode::unsupported : ErrorCode::internal,
              fmt::format("cuDNN: {} failed: {} {}", what, cudnnGetErrorString(status), detail.data()));
}

Result<const CudnnApi*> cudnn() {
  static const Result<CudnnApi> api = loadCudnn();
  if (!api.has_value()) return fail(api.error());
  return &*api;
}

Descriptor::Descriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type) : api_(&api) {
  cudnnBackendDescriptor_t made = nullptr;
  status_ = api.cudnnBackendCreateDescriptor(type, &made);
  if (made != nullptr)
    handle_ = std::shared_ptr<void>(made, [&api](void* d) { (void)api.cudnnBackendDestroyDescriptor(d); });
}

Descriptor& Descriptor::setMany(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::int64_t count, const void* values) {
  if (status_ == CUDNN_STATUS_SUCCESS)
    status_ = api_->cudnnBackendSetAttribute(get(), name, type, count, values);
  return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values) {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const Descriptor& value : values) handles.push_back(value.get());
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles);
}

Descriptor& Descriptor::setText(cudnnBackendAttributeName_t name, const std::string& text) {
  return setMany(name, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(text.size()) + 1, text.c_str());
}

Status Descriptor::finalize(std::string_view what) {
  if (status_ == CUDNN_STATUS_SUCCESS) status_ = api_->cudnnBackendFinalize(get());
  return api_->statusOf(status_, what);
}

cudnnStatus_t Descriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                              std::int64_t most, std::int64_t* count, void* values) const {
  return api_->cudnnBackendGetAttribute(get(), name, type, most, count, values);
}

std::int64_t Descriptor::integer(cudnnBackendAttributeName_t name) const {
  const auto found = values<std::int64_t>(name, CUDNN_TYPE_INT64, 1);
  return found.empty() ? 0 : found.front();
}

std::vector<Descriptor> Descriptor::descriptors(cudnnBackendAttributeName_t name,
                                                cudnnBackendDescriptorType_t type) const {
  std::int64_t count = 0;
  if (get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr) != CUDNN_STATUS_SUCCESS) return {};
  std::vector<Descriptor> made;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < count; ++i) {
    made.emplace_back(*api_, type);
    handles.push_back(made.back().get());
  }
  std::int64_t filled = 0;
  if (get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &filled, handles.data()) != CUDNN_STATUS_SUCCESS)
    filled = 0;
  made.resize(static_cast<std::size_t>(filled));
  return made;
}

Descriptor Descriptor::descriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const {
  Descriptor made(*api_, type);
  cudnnBackendDescriptor_t handle = made.get();
  std::int64_t count = 0;
  if (get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle) != CUDNN_STATUS_SUCCESS) return {};
  return made;
}

Result<Descriptor> deviceProperties(const CudnnApi& api, cudnnHandle_t handle) {
  Descriptor properties(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, handle);
  PITWALL_TRY(properties.finalize("the properties of the GPU"));
  return properties;
}

Result<Descriptor> deviceProperties(const CudnnApi& api, const std::string& json) {
  Descriptor properties(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.setText(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json);
  PITWALL_TRY(properties.finalize("the properties of a GPU"));
  return properties;
}

Result<cudnnHandle_t> handleFor(const CudnnApi& api, void* stream) {
  thread_local Handles handles(api);
  return handles.on(stream);
}

}  // namespace pitwall::cuda
