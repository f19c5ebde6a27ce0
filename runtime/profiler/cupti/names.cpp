#include "runtime/profiler/cupti/names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace pitwall::cupti {

namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                     std::free);
  return status == 0 && plain != nullptr ? plain.get() : name;
}

const char* copyKind(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA: return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD: return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA: return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "PtoP";
    default: return "Unknown";
  }
}

enum class What : std::uint8_t { runtimeCall, driverCall, copy, peerCopy, fill, graph };

std::uint64_t keyOf(What what, std::uint64_t number) {
  return (static_cast<std::uint64_t>(what) << 32U) | (number & 0xFFFFFFFFU);
}

}  // namespace

const char* memoryKind(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE: return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY: return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC: return "Device Static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC: return "Managed Static";
    default: return "Unknown";
  }
}

std::string withoutVersion(std::string name) {
  const std::size_t at = name.rfind("_v");
  const bool is_version = at != std::string::npos && name.size() - at >= 6 &&
                          std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
  if (is_version) name.resize(at);
  return name;
}

template <class Make>
const Text* Names::made(std::uint64_t key, Make make) {
  const Text*& known = made_[key];
  if (known == nullptr) known = texts_.of(make());
  return known;
}

// CUPTI gives the same pointer for all records of a kernel; memory of an unloaded module may be used again.
const Text* Names::kernel(const char* mangled) {
  if (mangled == nullptr) return texts_.of("kernel");
  Kernel& known = kernels_[mangled];
  if (known.name == nullptr || std::strcmp(known.mangled.c_str(), mangled) != 0)
    known = {mangled, texts_.of(demangled(mangled))};
  return known.name;
}

const Text* Names::call(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  return made(keyOf(is_driver ? What::driverCall : What::runtimeCall, id), [&] {
    const char* const name = api_name_(domain, id);
    return name == nullptr ? fmt::format("{} function {}", is_driver ? "driver" : "runtime", id)
                           : withoutVersion(name);
  });
}

const Text* Names::copy(std::uint8_t kind, std::uint8_t from, std::uint8_t to) {
  const std::uint32_t number = (std::uint32_t{kind} << 16U) | (std::uint32_t{from} << 8U) | to;
  return made(keyOf(What::copy, number), [&] {
    return fmt::format("Memcpy {} ({} -> {})", copyKind(kind), memoryKind(from), memoryKind(to));
  });
}

const Text* Names::peerCopy(std::uint8_t from, std::uint8_t to) {
  return made(keyOf(What::peerCopy, (std::uint32_t{from} << 8U) | to),
              [&] { return fmt::format("Memcpy PtoP ({} -> {})", memoryKind(from), memoryKind(to)); });
}

const Text* Names::fill(std::uint32_t memory) {
  return made(keyOf(What::fill, memory), [&] { return fmt::format("Memset ({})", memoryKind(memory)); });
}

const Text* Names::graphArguments(std::uint32_t graph) {
  if (graph == 0) return nullptr;
  return made(keyOf(What::graph, graph), [&] { return fmt::format("{{\"graph\":{}}}", graph); });
}

}  // namespace pitwall::cupti
