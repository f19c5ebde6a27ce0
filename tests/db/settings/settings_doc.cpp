// Prints docs/settings.md from the catalogue; a test checks that the file is current.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "db/settings.h"

namespace pitwall {
namespace {

std::string inCode(std::string_view text) {
  std::string code = "`";
  for (const char c : text) code.append(c == '|' ? "\\|" : std::string(1, c));
  return code + "`";
}

void printEntry(const SettingInfo& info) {
  std::string facts = toString(info.type);
  if (!info.default_value.empty()) facts.append(", default ").append(inCode(info.default_value));
  if (info.type == SettingType::integer || info.type == SettingType::real || info.type == SettingType::choice)
    facts.append(", ").append(allowedText(info));
  if (!info.unit.empty()) facts.append(", in ").append(info.unit);
  std::printf("### `%s`\n\n%s.", std::string(info.name).c_str(), facts.c_str());
  std::printf(" Read by %s.", std::string(info.owner).c_str());
  if (info.status == SettingStatus::honoured)
    std::printf(" **Honoured** since %s.", std::string(info.since).c_str());
  std::printf("\n\n%s\n\n", std::string(info.meaning).c_str());
  if (!info.note.empty()) std::printf("Note: %s\n\n", std::string(info.note).c_str());
  std::printf("Source: %s.\n\n", std::string(info.source).c_str());
}

struct Chapter {
  SettingStatus status;
  const char* title;
  const char* text;
};

constexpr std::array kChapters = {
    Chapter{SettingStatus::honoured, "Honoured", "The runtime of this version reads and obeys these."},
    Chapter{SettingStatus::external, "Read by other libraries",
            "OpenMP, oneDNN, CUDA and others read these themselves; Pitwall records and recommends them."},
    Chapter{SettingStatus::planned, "Planned",
            "What these steer is not in the runtime yet. Setting them does nothing."},
    Chapter{SettingStatus::notApplicable, "Not applicable",
            "What these steer does not exist in Pitwall, by design."},
};

void printAll() {
  std::printf("# Settings\n\n");
  std::printf(
      "Generated from the catalogue in `db/settings/`; `pitwall env NAME` shows the same on a terminal, with "
      "the value in effect.\n\n");
  std::printf(
      "An unset or empty variable means its default. Booleans are `true`, `false`, `1`, `0` in any case. A "
      "bad "
      "value of a setting that Pitwall honours is an error that names variable, value and what is "
      "allowed.\n\n");
  for (const Chapter& chapter : kChapters) {
    const auto count = std::ranges::count(settingCatalogue(), chapter.status, &SettingInfo::status);
    if (count == 0) continue;
    std::printf("## %s (%td)\n\n%s\n\n", chapter.title, count, chapter.text);
    for (const SettingInfo& info : settingCatalogue())
      if (info.status == chapter.status) printEntry(info);
  }
}

}  // namespace
}  // namespace pitwall

int main() {
  pitwall::printAll();
  return 0;
}
