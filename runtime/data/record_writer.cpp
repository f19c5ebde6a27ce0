#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "db/try.h"
#include "runtime/data/record_format.h"
#include "runtime/file/new_file.h"
#include "runtime/record_file.h"

namespace pitwall::data {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

class FileWriter : public RecordWriter {
 public:
  FileWriter(std::string path, NewFile file, std::optional<NewFile> index)
      : path_(std::move(path)), file_(std::move(file)), index_(std::move(index)) {}

  Status write(std::uint64_t key, std::span<const std::uint8_t> record) override {
    if (static_cast<Bytes>(record.size()) > kMostRecordBytes)
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: record {} has {} bytes: at most {} fit into a record", path_, key,
                              record.size(), kMostRecordBytes));
    if (index_) index_text_ += fmt::format("{}\t{}\n", key, position_);
    std::size_t done = 0;
    for (std::size_t at = 0;;) {
      at = record::findMagic(record, at);
      if (at == record.size()) break;
      PITWALL_TRY(part(done == 0 ? record::PartKind::first : record::PartKind::middle,
                       record.subspan(done, at - done)));
      at += sizeof record::kMagic;
      done = at;
    }
    PITWALL_TRY(part(done == 0 ? record::PartKind::whole : record::PartKind::last, record.subspan(done)));
    return index_text_.size() < kWriteBytes ? Status() : writeIndex();
  }

  Status finish() override {
    PITWALL_TRY(flush());
    PITWALL_TRY(writeIndex());
    PITWALL_TRY(file_.complete());
    if (!index_) return file_.finish();
    PITWALL_TRY(index_->complete());
    // Records without an index can be read, unlike new ones with an old index.
    if (::unlink(index_->path().c_str()) != 0 && errno != ENOENT)
      return fail(ErrorCode::io, fmt::format("{}: cannot be replaced: {}; choose another path",
                                             index_->path(), std::strerror(errno)));
    PITWALL_TRY(file_.finish());
    return index_->finish();
  }

  Bytes position() const override { return position_; }

 private:
  Status part(record::PartKind kind, std::span<const std::uint8_t> bytes) {
    const std::uint32_t head[] = {
        record::kMagic, static_cast<std::uint32_t>(kind) << 29U | static_cast<std::uint32_t>(bytes.size())};
    const std::size_t rest = record::padded(bytes.size()) - bytes.size();
    text_.append(reinterpret_cast<const char*>(head), sizeof head);
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text_.append(rest, '\0');
    position_ += static_cast<Bytes>(sizeof head + bytes.size() + rest);
    return text_.size() < kWriteBytes ? Status() : flush();
  }

  Status flush() {
    Status status = file_.write(text_);
    text_.clear();
    return status;
  }

  Status writeIndex() {
    if (!index_) return {};
    PITWALL_TRY(index_->write(index_text_));
    index_text_.clear();
    return {};
  }

  const std::string path_;
  NewFile file_;
  std::optional<NewFile> index_;
  std::string text_, index_text_;  // not written yet
  Bytes position_ = 0;
};

}  // namespace

Result<std::unique_ptr<RecordWriter>> RecordWriter::create(const std::string& path,
                                                           const std::string& index_path) {
  NewFile file = PITWALL_TRY(NewFile::create(path));
  std::optional<NewFile> index;
  if (!index_path.empty()) {
    NewFile output = PITWALL_TRY(NewFile::create(index_path));
    index.emplace(std::move(output));
  }
  return std::unique_ptr<RecordWriter>(std::make_unique<FileWriter>(path, std::move(file), std::move(index)));
}

}  // namespace pitwall::data
