// Names for the numbers in an Nsight Systems export: strings, enumerations, ids of processes and threads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/build/builder.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

// Caches one value per number of a file, with a fast path for frequent numbers.
template <class Made>
class RecentIds {
 public:
  // The reference stays valid.
  template <class Make>
  const Made& get(std::int64_t id, Make make) {
    Recent& recent = recent_[static_cast<std::uint64_t>(id) % recent_.size()];
    if (recent.made != nullptr && recent.id == id) return *recent.made;
    auto found = all_.find(id);
    if (found == all_.end()) found = all_.emplace(id, make()).first;
    recent = {id, &found->second};
    return found->second;
  }

 private:
  struct Recent {
    std::int64_t id = 0;
    const Made* made = nullptr;
  };
  std::array<Recent, 64> recent_;
  std::unordered_map<std::int64_t, Made> all_;
};

class NsightNames {
 public:
  NsightNames(store::ForeignDatabase& database, Builder& builder) : database_(database), builder_(builder) {}

  // Reads StringIds and the ENUM tables. Errors: corruptTrace; unsupported when the strings are too many.
  Status read(const ImportLimits& limits);

  struct Kernel {
    StringId name;
    bool collective = false;
  };
  // The same by string id, each computed once.
  const Kernel& kernel(std::int64_t id);
  StringId callName(std::int64_t id);  // without its version
  StringId rangeName(std::int64_t id);
  std::optional<std::int64_t> rangeStep(std::int64_t id);  // where the range is named for a training step

  bool haveStrings() const { return have_strings_; }
  // The string of this id, or "WHAT 12" (counted) when there is none.
  std::string string(std::int64_t id, std::string_view what);
  std::string copyKind(std::int64_t value) const;    // "HtoD"
  std::string memoryKind(std::int64_t value) const;  // "Pageable"
  std::string syncKind(std::int64_t value) const;    // "Stream sync"

 private:
  using Labels = std::unordered_map<std::int64_t, std::string>;
  Status readLabels(std::string_view table, std::string_view column, Labels& labels);

  store::ForeignDatabase& database_;
  Builder& builder_;
  bool have_strings_ = false;
  Labels strings_;
  Labels copy_kinds_;
  Labels memory_kinds_;
  Labels sync_kinds_;
  struct Range {
    StringId name;
    std::optional<std::int64_t> step;
  };
  const Range& range(std::int64_t id);
  RecentIds<Kernel> kernels_;
  RecentIds<StringId> calls_;
  RecentIds<Range> ranges_;
};

// Without the suffix that a CUDA function's versions carry: cudaStreamSynchronize_v3020.
std::string_view withoutVersion(std::string_view name);

// A globalTid holds machine, process and thread.
inline std::int64_t globalProcess(std::int64_t global_tid) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(global_tid) & ~std::uint64_t{0xFFFFFF});
}
inline std::int64_t pidOf(std::int64_t global) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(global) >> 24) & 0xFFFFFF);
}
inline std::int64_t tidOf(std::int64_t global) { return global & 0xFFFFFF; }

}  // namespace pitwall::import
