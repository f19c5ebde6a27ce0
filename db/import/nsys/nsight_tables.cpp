#include "db/import/nsys/nsight_tables.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "db/import/input/text.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

// Values of exports without ENUM tables.
const std::unordered_map<std::int64_t, std::string> kCopyKinds = {
    {1, "HtoD"}, {2, "DtoH"}, {3, "HtoA"},  {4, "AtoH"},      {5, "AtoA"},      {6, "AtoD"},     {7, "DtoA"},
    {8, "DtoD"}, {9, "HtoH"}, {10, "PtoP"}, {11, "UVM HtoD"}, {12, "UVM DtoH"}, {13, "UVM DtoD"}};
const std::unordered_map<std::int64_t, std::string> kMemoryKinds = {
    {0, "Pageable"}, {1, "Pinned"},        {2, "Device"},        {3, "Array"},
    {4, "Managed"},  {5, "Device Static"}, {6, "Managed Static"}};
const std::unordered_map<std::int64_t, std::string> kSyncKinds = {
    {1, "Event sync"}, {2, "Stream wait sync"}, {3, "Stream sync"}, {4, "Context sync"}};

std::string labelOf(const std::unordered_map<std::int64_t, std::string>& read,
                    const std::unordered_map<std::int64_t, std::string>& known, std::int64_t value) {
  if (const auto found = read.find(value); found != read.end()) return found->second;
  if (const auto found = known.find(value); found != known.end() && read.empty()) return found->second;
  return fmt::format("kind {}", value);
}

// "CUDA_MEMCPY_KIND_UVM_HTOD" -> "UVM HtoD"
std::string shortCopyKind(std::string_view name) {
  constexpr std::string_view kStart = "CUDA_MEMCPY_KIND_";
  if (name.substr(0, kStart.size()) != kStart) return std::string(name);
  std::string out(name.substr(kStart.size()));
  for (char& c : out) {
    if (c == '_') c = ' ';
  }
  if (out.size() >= 4 && out.substr(out.size() - 3, 2) == "TO") {
    out[out.size() - 3] = 't';
    out[out.size() - 2] = 'o';
  }
  return out;
}

}  // namespace

std::string_view withoutVersion(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  if (end < name.size() && end >= 2 && name.substr(end - 2, 2) == "_v") return name.substr(0, end - 2);
  return name;
}

Status NsightNames::readLabels(std::string_view table, std::string_view column, Labels& labels) {
  const std::array<std::string_view, 2> columns = {"id", column};
  return database_.visit(table, columns, [&](const store::ForeignRow& row) -> Status {
    if (!row.isNull(0) && !row.isNull(1) && labels.size() < 4096)
      labels[row.integer(0)] = std::string(row.text(1));
    return {};
  });
}

Status NsightNames::read(const ImportLimits& limits) {
  have_strings_ = database_.has("StringIds");
  Bytes bytes = 0;
  constexpr std::array<std::string_view, 2> kColumns = {"id", "value"};
  auto status = database_.visit("StringIds", kColumns, [&](const store::ForeignRow& row) -> Status {
    bytes += static_cast<Bytes>(row.text(1).size()) + 64;
    if (bytes > limits.string_table_bytes) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: the table StringIds holds more than {} bytes",
                              builder_.tally().input().path, limits.string_table_bytes));
    }
    strings_[row.integer(0)] = std::string(row.text(1));
    return {};
  });
  PITWALL_TRY(status);
  PITWALL_TRY(readLabels("ENUM_CUDA_MEMCPY_OPER", "name", copy_kinds_));
  for (auto& [id, name] : copy_kinds_) name = shortCopyKind(name);
  PITWALL_TRY(readLabels("ENUM_CUDA_MEM_KIND", "label", memory_kinds_));
  return readLabels("ENUM_CUPTI_SYNC_TYPE", "label", sync_kinds_);
}

std::string NsightNames::string(std::int64_t id, std::string_view what) {
  if (const auto found = strings_.find(id); found != strings_.end()) return found->second;
  builder_.tally().repaired(have_strings_
                                ? "names that the table StringIds does not hold: replaced by their number"
                                : "names, since the table StringIds is missing: replaced by their number",
                            fmt::format("{} {}", what, id));
  return fmt::format("{} {}", what, id);
}

const NsightNames::Kernel& NsightNames::kernel(std::int64_t id) {
  return kernels_.get(id, [&]() -> Kernel {
    const std::string name = string(id, "kernel");
    const bool collective = name.find("ncclDevKernel") != std::string::npos || name.substr(0, 4) == "nccl";
    return {builder_.names().name(name), collective};
  });
}

StringId NsightNames::callName(std::int64_t id) {
  return calls_.get(id, [&] { return builder_.names().name(withoutVersion(string(id, "function"))); });
}

const NsightNames::Range& NsightNames::range(std::int64_t id) {
  return ranges_.get(id, [&]() -> Range {
    const std::string name = string(id, "range");
    return {builder_.names().name(name), stepNumber(name)};
  });
}
StringId NsightNames::rangeName(std::int64_t id) { return range(id).name; }
std::optional<std::int64_t> NsightNames::rangeStep(std::int64_t id) { return range(id).step; }

std::string NsightNames::copyKind(std::int64_t value) const {
  return labelOf(copy_kinds_, kCopyKinds, value);
}
std::string NsightNames::memoryKind(std::int64_t value) const {
  return labelOf(memory_kinds_, kMemoryKinds, value);
}
std::string NsightNames::syncKind(std::int64_t value) const {
  return labelOf(sync_kinds_, kSyncKinds, value);
}

}  // namespace pitwall::import
