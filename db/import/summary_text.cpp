// The summary as the command prints it.
#include <fmt/format.h>

#include "db/import.h"

namespace pitwall {
namespace {

std::string sizeText(Bytes bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void appendInput(const ImportedInput& input, std::string& out) {
  out += fmt::format("{}\n  format      {}{}{}\n", input.path, input.format,
                     input.version.empty() ? "" : ", ", input.version);
  out += fmt::format("  size        {}", sizeText(input.file_bytes));
  if (input.compression != "none")
    out += fmt::format(", {}, {} decompressed", input.compression, sizeText(input.content_bytes));
  out += fmt::format("\n  clock       {}\n", input.clock);
  if (!input.complete) out += fmt::format("  INCOMPLETE  {}\n", input.damage);
}

void appendCounts(const char* title, const std::map<std::string, ImportCount>& counts, std::string& out) {
  if (counts.empty()) return;
  out += fmt::format("{}\n", title);
  for (const auto& [what, entry] : counts) {
    out += fmt::format("  {:>10}  {}\n", entry.count, what);
    if (!entry.example.empty()) out += fmt::format("              e.g. {}\n", entry.example.substr(0, 200));
  }
}

}  // namespace

std::string toText(const ImportSummary& summary) {
  std::string out;
  for (const ImportedInput& input : summary.inputs) appendInput(input, out);
  out += fmt::format("trace\n  span        {:.6f} s\n",
                     static_cast<double>(summary.end_ns - summary.begin_ns) / 1e9);
  if (!summary.devices.empty()) out += fmt::format("  devices     {}\n", fmt::join(summary.devices, ", "));
  if (!summary.ranks.empty()) out += fmt::format("  ranks       {}\n", fmt::join(summary.ranks, ", "));
  for (const auto& [kind, count] : summary.events) out += fmt::format("  {:>10}  {}\n", count, kind);
  if (summary.events.empty()) out += "  no events\n";
  out += "records in the input\n";
  std::size_t shown = 0;
  for (const auto& [what, count] : summary.records) {
    if (++shown > 40) {
      out += fmt::format("              and {} more kinds\n", summary.records.size() - 40);
      break;
    }
    out += fmt::format("  {:>10}  {}\n", count, what);
  }
  appendCounts("not taken over", summary.not_understood, out);
  appendCounts("repaired", summary.repaired, out);
  appendCounts("dropped", summary.dropped, out);
  for (const std::string& note : summary.notes) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace pitwall
