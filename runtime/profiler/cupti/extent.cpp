#include "runtime/profiler/cupti/collector.h"

namespace pitwall::cupti {

std::optional<Extent> extentOf(std::string_view setting) {
  if (setting == "0") return {};
  if (setting == "counters") return Extent::counters;
  if (setting == "managed") return Extent::managed;
  return setting == "kernels" ? Extent::kernels : Extent::everything;
}

}  // namespace pitwall::cupti
