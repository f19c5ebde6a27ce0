#include "db/import/nsys/nsight_about.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "db/import/input/text.h"
#include "db/meta.h"
#include "db/redact.h"
#include "db/settings.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

// NAME=VALUE;NAME=VALUE: only variables that are known settings, since others may hold secrets. The values
// of settings are redacted too.
void environment(Builder& builder, std::string_view text) {
  std::int64_t kept = 0;
  std::int64_t others = 0;
  while (!text.empty() && builder.isFirstInput()) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || findSetting(entry.substr(0, equals)) == nullptr) {
      ++others;
      continue;
    }
    std::string name, value;
    appendClean(entry.substr(0, equals), name);
    appendClean(redactValue(name, entry.substr(equals + 1)), value);
    builder.sink().setting({name, value, SettingSource::environment});
    ++kept;
  }
  if (kept > 0) builder.tally().record("environment variables that are settings") += kept;
  if (others > 0) builder.tally().record("environment variables left out") += others;
}

}  // namespace

Status readNsightAbout(NsightRows& rows) {
  Builder& builder = rows.builder();
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  std::string product;
  auto status = rows.visit("META_DATA_EXPORT", kColumns, [&](const store::ForeignRow& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") product = std::string(row.text(1));
    if (row.text(0) == "EXPORT_SCHEMA_VERSION")
      builder.tally().input().version = fmt::format("schema {}", row.text(1));
  });
  if (!product.empty()) builder.tally().input().version += fmt::format(", nsys {}", product);
  builder.meta(meta::kProducer, product.empty() ? "Nsight Systems" : "nsys " + product);
  PITWALL_TRY(status);
  return rows.visit("TARGET_INFO_SYSTEM_ENV", kColumns, [&](const store::ForeignRow& row) {
    constexpr std::array<std::pair<std::string_view, const char*>, 6> kKept = {
        {{"CpuCores", meta::kLogicalCpus},
         {"CpuDescription", meta::kCpuModel},
         {"OsDescription", meta::kHostOs},
         {"Hostname", meta::kHostName},
         {"NvDriverVersion", "nvidia.driver"},
         {"CudaDriverVersion", "cuda.driver"}}};
    for (const auto& [name, key] : kKept) {
      if (row.text(0) == name && !row.text(1).empty()) builder.meta(key, row.text(1));
    }
    if (row.text(0) == "DeviceEnvironment") environment(builder, row.text(1));
  });
}

}  // namespace pitwall::import
