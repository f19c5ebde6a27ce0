// A folder for one test's files, removed with its owner.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "db/check.h"

namespace pitwall::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pitwall-test-XXXXXX").string();
    PITWALL_CHECK(::mkdtemp(pattern.data()) != nullptr, "cannot make %s", pattern.c_str());
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace pitwall::test
