// Invariants of every entry of the catalogue, and a check that no required entry is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "db/settings.h"

namespace pitwall::catalogue_test {
namespace {

TEST(Catalogue, IsSortedWithoutDuplicates) {
  const auto all = settingCatalogue();
  EXPECT_GT(all.size(), 150U);
  const auto wrong = std::ranges::adjacent_find(
      all, [](const SettingInfo& a, const SettingInfo& b) { return a.name >= b.name; });
  EXPECT_TRUE(wrong == all.end()) << wrong->name;
}

TEST(Catalogue, EveryEntryIsComplete) {
  for (const SettingInfo& info : settingCatalogue()) {
    EXPECT_FALSE(info.owner.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    EXPECT_GT(info.meaning.size(), 30U) << info.name;
    EXPECT_TRUE(info.meaning.ends_with('.')) << info.name;
    EXPECT_EQ(info.meaning.find('\n'), std::string_view::npos) << info.name << " is one paragraph";
    EXPECT_EQ(info.since.empty(), info.status != SettingStatus::honoured) << info.name;
    if (info.status == SettingStatus::notApplicable) {
      EXPECT_FALSE(info.note.empty()) << info.name << " says why it does not apply";
    }
    if (info.type == SettingType::choice) {
      EXPECT_FALSE(info.allowed.empty()) << info.name;
    }
  }
}

TEST(Catalogue, EveryDefaultIsAllowed) {
  for (const SettingInfo& info : settingCatalogue()) {
    const Status checked = checkSettingValue(info, info.default_value);
    EXPECT_TRUE(checked.has_value()) << checked.error().message;
  }
}

TEST(Catalogue, FindsEveryEntryAndCoversPatterns) {
  for (const SettingInfo& info : settingCatalogue()) EXPECT_EQ(findSetting(info.name), &info) << info.name;
  ASSERT_NE(findSetting("PITWALL_TUNE_batch_size"), nullptr);
  EXPECT_EQ(findSetting("PITWALL_TUNE_batch_size")->name, "PITWALL_TUNE_*");
  EXPECT_EQ(findSetting("MXNET_ENGINE_TYP"), nullptr);
  EXPECT_EQ(findSetting(""), nullptr);
}

TEST(Catalogue, HoldsEveryRequiredName) {
  std::ifstream file(PITWALL_REQUIRED_SETTINGS);
  ASSERT_TRUE(file.is_open()) << PITWALL_REQUIRED_SETTINGS;
  std::string line;
  int names = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line.starts_with('#')) continue;
    ++names;
    EXPECT_NE(findSetting(line), nullptr) << line << " is required but not in db/settings/";
  }
  EXPECT_GT(names, 150);
}

}  // namespace
}  // namespace pitwall::catalogue_test
