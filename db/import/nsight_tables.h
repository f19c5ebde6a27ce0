// Names for the numbers in an Nsight Systems export: strings, enumerations, ids of processes and threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/builder.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

class NsightNames {
 public:
  NsightNames(store::ForeignDatabase& database, Builder& builder) : database_(database), builder_(builder) {}

  // Reads StringIds and the ENUM tables. Errors: corruptTrace; unsupported when the strings are too many.
  Status read(const ImportLimits& limits);

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
