// The functions of cuDNN that the backend calls, and its descriptors as values.
//
// Descriptors need no GPU: with the properties of one (DeviceProperties) all but running a plan works without.
#pragma once

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/result.h"

namespace pitwall::cuda {

#define PITWALL_CUDNN_FUNCTIONS(X) \
  X(cudnnGetVersion)               \
  X(cudnnGetErrorString)           \
  X(cudnnGetLastErrorString)       \
  X(cudnnCreate)                   \
  X(cudnnSetStream)                \
  X(cudnnBackendCreateDescriptor)  \
  X(cudnnBackendDestroyDescriptor) \
  X(cudnnBackendSetAttribute)      \
  X(cudnnBackendGetAttribute)      \
  X(cudnnBackendFinalize)          \
  X(cudnnBackendExecute)

struct CudnnApi {
#define PITWALL_DECLARE(name) decltype(&::name) name = nullptr;
  PITWALL_CUDNN_FUNCTIONS(PITWALL_DECLARE)
#undef PITWALL_DECLARE

  // "cuDNN: ... failed: ...". With what cuDNN says of the last error on this thread.
  Status statusOf(cudnnStatus_t status, std::string_view what) const;
};

// Opened once. Errors: notFound or unsupported, with the remedy.
Result<const CudnnApi*> cudnn();

// A descriptor of cuDNN's graph interface. Copies share it. The first error of set() is that of finalize().
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type);

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return setMany(name, type, 1, &value);
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const std::vector<T>& values) {
    return setMany(name, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    const cudnnBackendDescriptor_t handle = value.get();
    return setMany(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values);
  Descriptor& setText(cudnnBackendAttributeName_t name, const std::string& text);
  // `what` it describes, for the message. Errors: unsupported, with cuDNN's reason.
  Status finalize(std::string_view what);

  // As many values as there are, at most `most`.
  template <class T>
  std::vector<T> values(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                        std::size_t most) const {
    std::vector<T> found(most);
    std::int64_t count = 0;
    if (get(name, type, static_cast<std::int64_t>(most), &count, found.data()) != CUDNN_STATUS_SUCCESS)
      count = 0;
    found.resize(static_cast<std::size_t>(std::min<std::int64_t>(count, static_cast<std::int64_t>(most))));
    return found;
  }
  std::int64_t integer(cudnnBackendAttributeName_t name) const;
  // Descriptors that this one has; each is of `type`.
  std::vector<Descriptor> descriptors(cudnnBackendAttributeName_t name,
                                      cudnnBackendDescriptorType_t type) const;
  Descriptor descriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const;

  cudnnBackendDescriptor_t get() const { return handle_.get(); }

 private:
  Descriptor& setMany(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                      const void* values);
  cudnnStatus_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most,
                    std::int64_t* count, void* values) const;

  const CudnnApi* api_ = nullptr;
  std::shared_ptr<void> handle_;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

// What cuDNN has to know of a GPU to choose and compile engines for it: of the thread's GPU, or from the text that cuDNN makes
// of one. Errors: unsupported.
Result<Descriptor> deviceProperties(const CudnnApi& api, cudnnHandle_t handle);
Result<Descriptor> deviceProperties(const CudnnApi& api, const std::string& json);

// The calling thread's handle on the GPU that it uses, for work on `stream`. Errors: internal.
Result<cudnnHandle_t> handleFor(const CudnnApi& api, void* stream);

}  // namespace pitwall::cuda
