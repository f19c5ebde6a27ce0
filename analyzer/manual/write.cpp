#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "analyzer/manual.h"
#include "db/try.h"

namespace pitwall::manual {
namespace {

namespace fs = std::filesystem;

Status writeText(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return fail(ErrorCode::io,
                fmt::format("{}: cannot be written; free space, or give another folder", path.string()));
  return {};
}

}  // namespace

Status writeManual(const Command& root, std::string_view version, const std::vector<std::string>& see_also,
                   const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  const fs::path to(folder);
  std::vector<std::string> pages{pageName(root)};
  if (root.own_pages) {
    for (const Command& below : root.commands) pages.push_back(pageName(below));
  }
  pages.insert(pages.end(), see_also.begin(), see_also.end());
  const auto writePage = [&](const Command& command) {
    return writeText(to / "man1" / (pageName(command) + ".1"), manPage(command, version, pages));
  };
  PITWALL_TRY(writePage(root));
  if (root.own_pages) {
    for (const Command& below : root.commands) PITWALL_TRY(writePage(below));
  }
  PITWALL_TRY(writeText(to / "bash" / root.name, bashCompletion(root)));
  PITWALL_TRY(writeText(to / "zsh" / ("_" + root.name), zshCompletion(root)));
  PITWALL_TRY(writeText(to / "fish" / (root.name + ".fish"), fishCompletion(root)));
  return {};
}

}  // namespace pitwall::manual
