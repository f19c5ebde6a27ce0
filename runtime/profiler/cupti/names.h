// The texts of recorded activity, each made once: programs repeat the same kernels and calls millions of times.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// CUPTI's name of an API function ("cudaLaunchKernel_v7000"); nullptr when it has none.
using ApiName = const char* (*)(CUpti_CallbackDomain domain, CUpti_CallbackId id);

// Without the version that CUPTI appends to a name: "cudaMalloc_v3020" -> "cudaMalloc"; "cuMemAlloc_v2", the
// function's own name, stays.
std::string withoutVersion(std::string name);

class Names {
 public:
  explicit Names(ApiName api_name) : api_name_(api_name) {}

  const Text* text(std::string_view text) { return texts_.of(text); }
  // The name as it is in the source; nullptr counts as "kernel".
  const Text* kernel(const char* mangled);
  const Text* call(CUpti_CallbackDomain domain, CUpti_CallbackId id);
  // "Memcpy HtoD (Pinned -> Device)", of CUPTI's numbers.
  const Text* copy(std::uint8_t kind, std::uint8_t from, std::uint8_t to);
  const Text* peerCopy(std::uint8_t from, std::uint8_t to);
  const Text* fill(std::uint32_t memory);
  // Of a part of a graph; nullptr for 0, which is no graph.
  const Text* graphArguments(std::uint32_t graph);

 private:
  struct Kernel {
    std::string mangled;
    const Text* name = nullptr;
  };
  template <class Make>
  const Text* made(std::uint64_t key, Make make);

  const ApiName api_name_;
  Texts texts_;
  std::unordered_map<const char*, Kernel> kernels_;
  std::unordered_map<std::uint64_t, const Text*> made_;
};

// "Device", "Pinned", ... of CUPTI's number.
const char* memoryKind(std::uint32_t kind);

}  // namespace pitwall::cupti
