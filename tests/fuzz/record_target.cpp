// Record files: the reader, the search for records and reading by place agree, and what was read can be written.
#include <algorithm>
#include <string>
#include <vector>

#include "db/check.h"
#include "runtime/record_file.h"
#include "tests/fuzz/input_file.h"

namespace pitwall::fuzz {
namespace {

using data::Record;
using Bytestring = std::vector<std::uint8_t>;

struct Contents {
  std::vector<Bytes> offsets;
  std::vector<Bytestring> records;
  data::RecordDamages damages;
};

Contents contentsOf(const std::string& path) {
  Contents all;
  const auto reader = data::RecordReader::open(path, 4096);
  PITWALL_CHECK(reader.has_value(), "%s", reader.error().message.c_str());
  Record record;
  for (;;) {
    const auto more = (*reader)->next(record);
    PITWALL_CHECK(more.has_value(), "%s", more.error().message.c_str());
    if (!*more) break;
    all.offsets.push_back(record.offset);
    all.records.emplace_back(record.bytes.begin(), record.bytes.end());
  }
  all.damages = (*reader)->damages();
  return all;
}

void takeHeader(const Bytestring& record) {
  std::span<const std::uint8_t> rest = record;
  data::ImageHeader header;
  const Status taken = data::takeImageHeader(rest, header);
  PITWALL_CHECK(taken.has_value() || !taken.error().message.empty(), "an error without a message");
  PITWALL_CHECK(!taken.has_value() || rest.size() + 24 <= record.size(), "%zu bytes are left", rest.size());
}

}  // namespace

void readRecords(std::span<const std::uint8_t> input) {
  const std::string path = asFile(input);
  const Contents read = contentsOf(path);
  const auto found = data::findRecords(path);
  PITWALL_CHECK(found.has_value(), "%s", found.error().message.c_str());
  PITWALL_CHECK(found->places.size() == read.offsets.size(), "%zu records found, %zu read",
                found->places.size(), read.offsets.size());
  PITWALL_CHECK(found->damages.count == read.damages.count, "damage differs");
  Bytes bytes = read.damages.bytes;
  const auto file = data::RecordFile::open(path);
  Bytestring buffer;
  for (std::size_t i = 0; i < read.offsets.size(); ++i) {
    bytes += found->places[i].bytes;
    const auto again = (*file)->read(found->places[i], buffer);
    PITWALL_CHECK(again.has_value() && std::ranges::equal(again->bytes, read.records[i]),
                  "record %zu differs", i);
    takeHeader(read.records[i]);
  }
  PITWALL_CHECK(bytes == static_cast<Bytes>(input.size()), "%lld of %zu bytes are accounted for",
                static_cast<long long>(bytes), input.size());
  const auto writer = data::RecordWriter::create(path);
  PITWALL_CHECK(writer.has_value(), "%s", writer.error().message.c_str());
  for (const Bytestring& record : read.records)
    PITWALL_CHECK((*writer)->write(0, record).has_value(), "not written");
  PITWALL_CHECK((*writer)->finish().has_value(), "not finished");
  const Contents again = contentsOf(path);
  PITWALL_CHECK(again.records == read.records && again.damages.count == 0, "what is written differs");
}

}  // namespace pitwall::fuzz
