#include "db/import/origins.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "db/profile_origin.h"

namespace pitwall::import {
namespace {

namespace fs = std::filesystem;

std::optional<ProfileOrigin> originIn(const InputFile& input) {
  std::error_code none;
  const bool named = !input.member && !input.tar_member && input.path.ends_with(kProfileOriginName) &&
                     fs::is_regular_file(input.path, none);
  auto origin = named ? readProfileOrigin(input.path) : Result<ProfileOrigin>(fail(ErrorCode::notFound, ""));
  return origin.has_value() ? std::optional(std::move(*origin)) : std::nullopt;
}

InputFile* inputNamed(std::vector<InputFile>& inputs, const std::string& path) {
  const auto same = [&](const InputFile& input) { return input.path == path; };
  const auto same_name = [&](const InputFile& input) {
    return fs::path(input.path).filename() == fs::path(path).filename();
  };
  auto at = std::find_if(inputs.begin(), inputs.end(), same);
  if (at == inputs.end()) at = std::find_if(inputs.begin(), inputs.end(), same_name);
  return at == inputs.end() ? nullptr : &*at;
}

}  // namespace

std::vector<std::string> takeOrigins(std::vector<InputFile>& inputs) {
  std::vector<ProfileOrigin> origins;
  std::erase_if(inputs, [&](const InputFile& input) {
    auto origin = originIn(input);
    if (origin) origins.push_back(std::move(*origin));
    return origin.has_value();
  });
  std::vector<std::string> notes;
  for (ProfileOrigin& origin : origins) {
    for (const std::string& note : origin.notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
    InputFile* const input = origin.path.empty() ? nullptr : inputNamed(inputs, origin.path);
    if (input != nullptr) input->origin = std::move(origin);
  }
  return notes;
}

}  // namespace pitwall::import
