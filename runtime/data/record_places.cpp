// Where the records of a file are: from its index, or by its heads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "db/try.h"
#include "runtime/data/record_format.h"
#include "runtime/file/open_file.h"
#include "runtime/record_file.h"

namespace pitwall::data {
namespace {

constexpr Bytes kFirstRead = Bytes{1} << 20;
constexpr Bytes kMostIndexBytes = Bytes{1} << 33;

// The bytes of each place: up to the next one in the file.
void setBytes(std::vector<RecordPlace>& places, Bytes file_bytes) {
  std::vector<RecordPlace*> sorted;
  sorted.reserve(places.size());
  for (RecordPlace& place : places) sorted.push_back(&place);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  Bytes end = file_bytes, start = file_bytes;
  for (auto place = sorted.rbegin(); place != sorted.rend(); ++place) {
    if ((*place)->offset != start) end = start;
    start = (*place)->offset;
    (*place)->bytes = end - start;
  }
}

template <class Number>
bool takeField(std::string_view& line, Number& number) {
  const auto [behind, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  line.remove_prefix(static_cast<std::size_t>(behind - line.data()));
  return error == std::errc();
}

class Finder {
 public:
  Finder(OpenFile file, std::unique_ptr<RecordReader> reader)
      : file_(std::move(file)), reader_(std::move(reader)) {}

  Result<RecordPlaces> run() {
    while (offset_ < file_.size()) {
      const Bytes end = PITWALL_TRY(endOfRecord());
      if (end != 0) {
        add(offset_, end);
      } else {
        PITWALL_TRY(examineLast());
      }
    }
    found_.damages = reader_->damages();
    return std::move(found_);
  }

 private:
  void add(Bytes offset, Bytes end) {
    found_.places.push_back({static_cast<std::uint64_t>(found_.places.size()), offset, end - offset});
    offset_ = end;
  }

  // Of the one at offset_; 0 if there is none that ends within the file.
  Result<Bytes> endOfRecord() {
    for (Bytes at = offset_; at + static_cast<Bytes>(record::kHeadBytes) <= file_.size();) {
      std::array<std::uint8_t, record::kHeadBytes> bytes{};
      PITWALL_TRY(file_.readAt(at, bytes));
      const record::Head head = record::headAt(bytes.data());
      if (!record::isHead(bytes.data()) || head.kind == record::PartKind::unknown ||
          (at == offset_) != record::beginsRecord(head.kind))
        return Bytes{0};
      at += static_cast<Bytes>(record::kHeadBytes + record::padded(head.bytes));
      if (head.kind == record::PartKind::whole || head.kind == record::PartKind::last)
        return at <= file_.size() ? at : Bytes{0};
    }
    return Bytes{0};
  }

  // Damage: the reader decides from the last record on, whose length may be wrong, what is a record.
  Status examineLast() {
    const Bytes damage = offset_;
    if (!found_.places.empty()) {
      offset_ = found_.places.back().offset;
      found_.places.pop_back();
    }
    PITWALL_TRY(reader_->seek(offset_));
    Record record;
    while (reader_->position() <= damage) {
      if (!PITWALL_TRY(reader_->next(record))) {
        offset_ = file_.size();
        return {};
      }
      add(record.offset, reader_->position());
    }
    return {};
  }

  const OpenFile file_;
  const std::unique_ptr<RecordReader> reader_;
  RecordPlaces found_;
  Bytes offset_ = 0;
};

class IndexedFile : public RecordFile {
 public:
  explicit IndexedFile(OpenFile file) : file_(std::move(file)) {}
  Bytes size() const override { return file_.size(); }

  Result<Record> read(const RecordPlace& place, std::vector<std::uint8_t>& buffer) const override {
    // Of a place with more than the record, such as where an index lists only some, no more than needed.
    std::size_t bytes = static_cast<std::size_t>(std::min(place.bytes, kFirstRead));
    record::Extent extent;
    for (std::size_t held = 0;;) {
      if (buffer.size() < bytes) buffer.resize(bytes);
      PITWALL_TRY(file_.readAt(place.offset + static_cast<Bytes>(held),
                               std::span(buffer).subspan(held, bytes - held)));
      held = bytes;
      extent = record::extentOf(std::span(buffer).first(bytes));
      if (extent.outcome != record::Outcome::incomplete || static_cast<Bytes>(extent.bytes) > place.bytes)
        break;
      bytes = extent.bytes;
    }
    if (extent.outcome != record::Outcome::complete)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: at byte {}: {}", file_.path(), place.offset,
                      extent.outcome == record::Outcome::damaged ? extent.what : "the record is incomplete"));
    return Record{place.offset, record::payloadOf(std::span(buffer).first(extent.bytes))};
  }

  bool hasChanged() const override { return file_.hasChanged(); }

  void readAhead(Bytes offset, Bytes bytes) const override { file_.readAhead(offset, bytes); }

 private:
  const OpenFile file_;
};

}  // namespace

Result<RecordPlaces> readRecordIndex(const std::string& index_path, Bytes file_bytes) {
  const OpenFile file = PITWALL_TRY(OpenFile::open(index_path));
  if (file.size() > kMostIndexBytes)
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: {} bytes: too large for an index", index_path, file.size()));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  PITWALL_TRY(file.readAt(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  RecordPlaces found;
  std::int64_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    RecordPlace place;
    const bool has_key = takeField(line, place.key) && line.starts_with('\t');
    if (has_key) line.remove_prefix(1);
    if (!has_key || !takeField(line, place.offset) || !line.empty())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: line {}: must be a key, a tabulator and an offset", index_path, number));
    if (place.offset < 0 || place.offset >= file_bytes)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: line {}: offset {} is outside the record file, which has {} bytes: does the index "
                      "belong to it?",
                      index_path, number, place.offset, file_bytes));
    found.places.push_back(place);
  }
  setBytes(found.places, file_bytes);
  return found;
}

Result<RecordPlaces> findRecords(const std::string& path) {
  OpenFile file = PITWALL_TRY(OpenFile::open(path));
  auto reader = PITWALL_TRY(RecordReader::open(path));
  return Finder(std::move(file), std::move(reader)).run();
}

Result<std::unique_ptr<RecordFile>> RecordFile::open(const std::string& path) {
  OpenFile file = PITWALL_TRY(OpenFile::open(path));
  return std::unique_ptr<RecordFile>(std::make_unique<IndexedFile>(std::move(file)));
}

}  // namespace pitwall::data
