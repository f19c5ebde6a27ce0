// Every seed and every input that once failed, without a fuzzer: a target ends the process when something is
// wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace pitwall::fuzz::replay_test {
namespace {

std::vector<std::string> filesIn(const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class FuzzReplay : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, SeedsAndInputsThatOnceFailed) {
  std::size_t seeds = 0;
  for (const char* kind : {"seeds", "found"}) {
    const std::vector<std::string> files =
        filesIn(std::string(PITWALL_FUZZ_FOLDER) + "/" + kind + "/" + GetParam().name);
    for (const std::string& path : files) {
      SCOPED_TRACE(path);
      std::ifstream file(path, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
      GetParam().run({bytes, text.size()});
      // Cut in the middle, and with its second half first.
      GetParam().run({bytes, text.size() / 2});
      GetParam().run({bytes + text.size() / 2, text.size() - text.size() / 2});
      ++seeds;
    }
  }
  EXPECT_GT(seeds, 0U) << "no seeds for " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& about) { return std::string(about.param.name); });

}  // namespace
}  // namespace pitwall::fuzz::replay_test
