// Lists of images as im2rec writes them: "number<TAB>label<TAB>...<TAB>path".
#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "db/try.h"
#include "runtime/data/parse_number.h"
#include "runtime/file/new_file.h"
#include "runtime/image_records.h"

namespace pitwall::data {
Result<std::vector<ListedImage>> readImageList(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::notFound, path + ": cannot be opened");
  std::vector<ListedImage> images;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    ListedImage image;
    std::vector<std::string_view> fields;
    for (std::string_view rest = line;;) {
      const std::size_t tab = rest.find('\t');
      fields.push_back(rest.substr(0, tab));
      if (tab == std::string_view::npos) break;
      rest.remove_prefix(tab + 1);
    }
    double key = 0;
    const bool whole = fields.size() >= 3 && parseWhole(fields[0], key) && key >= 0 && key < 1e15;
    bool labels = whole;
    for (std::size_t i = 1; labels && i + 1 < fields.size(); ++i)
      labels = parseWhole(fields[i], image.labels.emplace_back());
    if (!labels)
      return fail(
          ErrorCode::invalidInput,
          fmt::format(
              "{}: line {}: must be a number, a label or more, and a path, with tabulators between them",
              path, number));
    image.id = static_cast<std::uint64_t>(key);
    image.path = fields.back();
    images.push_back(std::move(image));
  }
  if (file.bad()) return fail(ErrorCode::io, path + ": cannot be read");
  return images;
}

Status writeImageList(const std::string& path, std::span<const ListedImage> images) {
  NewFile file = PITWALL_TRY(NewFile::create(path));
  std::string text;
  for (const ListedImage& image : images) {
    if (image.path.find_first_of("\t\r\n") != std::string::npos)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: the name of image {} has a tabulator or an end of line, which a list cannot "
                      "store: rename it: {}",
                      path, image.id, image.path));
    text += fmt::format("{}\t", image.id);
    for (const float label : image.labels) text += fmt::format("{:f}\t", label);
    text += image.path + "\n";
  }
  PITWALL_TRY(file.write(text));
  return file.finish();
}

}  // namespace pitwall::data
