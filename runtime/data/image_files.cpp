#include "runtime/data/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "db/try.h"
#include "runtime/file/open_file.h"

namespace pitwall::data {
namespace {

namespace fs = std::filesystem;

class ImageFiles : public RecordFile {
 public:
  ImageFiles(std::string root, std::vector<ListedImage> images)
      : root_(std::move(root)), images_(std::move(images)) {}

  Bytes size() const override { return static_cast<Bytes>(images_.size()); }
  bool hasChanged() const override { return false; }
  void readAhead(Bytes, Bytes) const override {}  // each file would have to be opened

  Result<Record> read(const RecordPlace& place, std::vector<std::uint8_t>& buffer) const override {
    const ListedImage& image = images_[static_cast<std::size_t>(place.offset)];
    const auto file = OpenFile::open(root_ + "/" + image.path);
    if (!file.has_value()) return fail(ErrorCode::invalidInput, file.error().message);
    if (file->size() > kMostRecordBytes)
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: {} bytes: too large for an image", file->path(), file->size()));
    buffer.clear();
    appendImageHeader({image.labels, image.id, 0}, buffer);
    const std::size_t header = buffer.size();
    buffer.resize(header + static_cast<std::size_t>(file->size()));
    PITWALL_TRY(file->readAt(0, std::span(buffer).subspan(header)));
    return Record{place.offset, buffer};
  }

 private:
  const std::string root_;
  const std::vector<ListedImage> images_;
};

bool hasExtension(const fs::path& path, const std::vector<std::string>& extensions) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

// The iterator's own errors end the loop: `error` is then set.
template <class Iterator>
void addPaths(Iterator entry, const std::string& root, const ImageSearch& search,
              std::vector<std::string>& paths, std::error_code& error) {
  for (; !error && entry != Iterator(); entry.increment(error)) {
    std::error_code ignored;  // such as of a link to nothing
    if (entry->is_regular_file(ignored) && hasExtension(entry->path(), search.extensions))
      paths.push_back(entry->path().lexically_relative(root).string());
  }
}

}  // namespace

std::unique_ptr<RecordFile> filesAsRecords(std::string root, std::vector<ListedImage> images) {
  return std::make_unique<ImageFiles>(std::move(root), std::move(images));
}

RecordPlaces placesOfFiles(const std::vector<ListedImage>& images) {
  RecordPlaces found;
  for (const ListedImage& image : images)
    found.places.push_back({image.id, static_cast<Bytes>(found.places.size()), 1});
  return found;
}

Result<std::vector<ListedImage>> findImages(const std::string& root, const ImageSearch& search) {
  std::vector<std::string> paths;
  std::error_code error;
  if (search.recursive)
    addPaths(fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink, error),
             root, search, paths, error);
  else
    addPaths(fs::directory_iterator(root, error), root, search, paths, error);
  if (error)
    return fail(error == std::errc::no_such_file_or_directory ? ErrorCode::notFound : ErrorCode::io,
                fmt::format("{}: cannot be read: {}; name a folder of images", root, error.message()));
  std::sort(paths.begin(), paths.end());
  std::map<std::string, float> classes;
  for (const std::string& path : paths) classes.emplace(fs::path(path).parent_path().string(), 0.0F);
  float number = 0;
  for (auto& [folder, label] : classes) label = number++;
  std::vector<ListedImage> images;
  for (const std::string& path : paths)
    images.push_back(
        {images.size(), {search.recursive ? classes[fs::path(path).parent_path().string()] : 0}, path});
  return images;
}

}  // namespace pitwall::data
