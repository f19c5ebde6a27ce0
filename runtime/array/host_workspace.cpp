#include "runtime/array/host_workspace.h"

#include <cstdlib>

namespace pitwall {
namespace {

constexpr Bytes kPage = 4096;

class HostWorkspace {
 public:
  HostWorkspace() = default;
  HostWorkspace(const HostWorkspace&) = delete;
  HostWorkspace& operator=(const HostWorkspace&) = delete;
  ~HostWorkspace() { std::free(data_); }

  void* atLeast(Bytes size) {
    if (size <= size_) return data_;
    std::free(data_);
    size_ = (size + kPage - 1) / kPage * kPage;
    data_ = std::aligned_alloc(static_cast<std::size_t>(kPage), static_cast<std::size_t>(size_));
    if (data_ == nullptr) size_ = 0;
    return data_;
  }

 private:
  void* data_ = nullptr;
  Bytes size_ = 0;
};

thread_local HostWorkspace workspace;

}  // namespace

void* hostWorkspace(Bytes size) { return size == 0 ? nullptr : workspace.atLeast(size); }

}  // namespace pitwall
