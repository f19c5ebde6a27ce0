// Reads a record file through a buffer that holds at least a whole record and the start of the next one, so that a
// damaged length is noticed: the magic number does not follow the record, but is within it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "db/try.h"
#include "runtime/data/record_format.h"
#include "runtime/file/open_file.h"
#include "runtime/record_file.h"

namespace pitwall::data {
namespace {

class FileReader : public RecordReader {
 public:
  FileReader(OpenFile file, Bytes buffer_bytes)
      : file_(std::move(file)), buffer_(static_cast<std::size_t>(std::max<Bytes>(buffer_bytes, 4096))) {}

  Result<bool> next(Record& record) override {
    for (;;) {
      const auto extent = PITWALL_TRY(examine());
      if (!extent) return false;
      if (extent->outcome == record::Outcome::complete && !PITWALL_TRY(hidesRecords(*extent))) {
        record.offset = offset_;
        record.bytes = record::payloadOf(std::span(buffer_).subspan(begin_, extent->bytes));
        begin_ += extent->bytes;
        offset_ += static_cast<Bytes>(extent->bytes);
        return true;
      }
      const bool complete = extent->outcome == record::Outcome::complete;
      PITWALL_TRY(skip(complete ? "its length is wrong" : reasonOf(*extent)));
    }
  }

  Status seek(Bytes offset) override {
    if (offset < 0 || offset > file_.size())
      return fail(ErrorCode::invalidInput, fmt::format("{}: there is no byte {}: the file has {} bytes",
                                                       file_.path(), offset, file_.size()));
    begin_ = end_ = 0;
    offset_ = offset;
    return {};
  }

  Bytes position() const override { return offset_; }
  const RecordDamages& damages() const override { return damages_; }

 private:
  std::span<const std::uint8_t> held() const { return {buffer_.data() + begin_, end_ - begin_}; }
  Bytes left() const { return file_.size() - offset_; }

  // Has at least `bytes` bytes of the file from offset_ on in the buffer, or all that are left.
  Status hold(std::size_t bytes) {
    bytes = static_cast<std::size_t>(std::min<Bytes>(static_cast<Bytes>(bytes), left()));
    if (end_ - begin_ >= bytes) return {};
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    if (buffer_.size() < bytes) buffer_.resize(bytes + bytes / 4);
    const auto more =
        std::min<Bytes>(static_cast<Bytes>(buffer_.size() - end_), left() - static_cast<Bytes>(end_));
    const auto to = std::span(buffer_).subspan(end_, static_cast<std::size_t>(more));
    PITWALL_TRY(file_.readAt(offset_ + static_cast<Bytes>(end_), to));
    end_ += to.size();
    return {};
  }

  // What starts at offset_; nothing at the end of the file. Where the file ends too early: incomplete.
  Result<std::optional<record::Extent>> examine() {
    if (left() == 0) return std::optional<record::Extent>();
    for (;;) {
      const record::Extent extent = record::extentOf(held());
      if (extent.outcome != record::Outcome::incomplete || static_cast<Bytes>(extent.bytes) > left())
        return std::optional(extent);
      PITWALL_TRY(hold(extent.bytes));
    }
  }

  // Whether the length of the record is wrong: no record follows it, but there is one within it.
  Result<bool> hidesRecords(const record::Extent& extent) {
    if (left() == static_cast<Bytes>(extent.bytes)) return false;
    PITWALL_TRY(hold(extent.bytes + sizeof record::kMagic));
    const auto bytes = held();
    if (bytes.size() < extent.bytes + sizeof record::kMagic || !record::isHead(bytes.data() + extent.bytes))
      return nextStart(bytes.first(extent.bytes)) < extent.bytes;
    return false;
  }

  // The first start of a record behind the one at the first byte.
  static std::size_t nextStart(std::span<const std::uint8_t> bytes) {
    for (std::size_t at = record::kHeadBytes;; at += sizeof record::kMagic) {
      at = record::findMagic(bytes, at);
      if (at + record::kHeadBytes > bytes.size()) return bytes.size();
      if (record::beginsRecord(record::headAt(bytes.data() + at).kind)) return at;
    }
  }

  std::string reasonOf(const record::Extent& extent) const {
    if (extent.outcome == record::Outcome::damaged) return extent.what;
    return fmt::format("the file ends after {} of at least {} bytes of the record", left(), extent.bytes);
  }

  // Continues at the next start of a record, or at the end of the file.
  Status skip(std::string reason) {
    const Bytes from = offset_;
    forward(std::min<Bytes>(left(), 4 - from % 4));
    while (left() >= static_cast<Bytes>(record::kHeadBytes)) {
      PITWALL_TRY(hold(buffer_.size() / 2));
      const auto bytes = held();
      std::size_t at = 0;
      for (; at + record::kHeadBytes <= bytes.size(); at += sizeof record::kMagic) {
        at = record::findMagic(bytes, at);
        if (at + record::kHeadBytes <= bytes.size() &&
            record::beginsRecord(record::headAt(bytes.data() + at).kind))
          break;
      }
      const bool found = at + record::kHeadBytes <= bytes.size();
      // Without a start the last bytes are examined again with what follows them.
      const std::size_t passed =
          found ? at : (bytes.size() - record::kHeadBytes + sizeof record::kMagic) / 4 * 4;
      forward(static_cast<Bytes>(passed));
      if (found) break;
    }
    if (left() < static_cast<Bytes>(record::kHeadBytes)) forward(left());
    damages_.count += 1;
    damages_.bytes += offset_ - from;
    if (damages_.first.size() < RecordDamages::kMostKept)
      damages_.first.push_back({from, offset_ - from, std::move(reason)});
    return {};
  }

  void forward(Bytes bytes) {
    begin_ = std::min(end_, begin_ + static_cast<std::size_t>(bytes));
    offset_ += bytes;
  }

  const OpenFile file_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what the buffer holds, from offset_ on
  Bytes offset_ = 0;                 // in the file
  RecordDamages damages_;
};

}  // namespace

std::string RecordDamages::describe(const std::string& path) const {
  if (count == 0) return {};
  std::string text =
      fmt::format("{}: {} damaged {}, {} bytes skipped", path, count, count == 1 ? "place" : "places", bytes);
  for (const RecordDamage& damage : first)
    text += fmt::format("; at byte {}: {} ({} bytes)", damage.offset, damage.what, damage.bytes);
  if (count > static_cast<std::int64_t>(first.size())) text += "; ...";
  return text;
}

Result<std::unique_ptr<RecordReader>> RecordReader::open(const std::string& path, Bytes buffer_bytes) {
  OpenFile file = PITWALL_TRY(OpenFile::open(path));
  return std::unique_ptr<RecordReader>(std::make_unique<FileReader>(std::move(file), buffer_bytes));
}

}  // namespace pitwall::data
