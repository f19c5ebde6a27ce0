// Files of records in MXNet's RecordIO format, byte for byte as MXNet 1.9.1 writes and reads them.
//
// A record has one part or more. A part is 4 bytes magic number 0xced7230a, 4 bytes kind << 29 | length, so many
// bytes, and zeros up to a multiple of 4; little-endian. Kinds: 0 a whole record, 1 its first part, 2 one in the
// middle, 3 the last. A record is divided wherever the magic number is at a multiple of 4 in it; the number itself
// is left out and the reader inserts it. So the number at a multiple of 4 is always the start of a part, and a
// reader can continue after damage. An index is a text file with a line "key<TAB>offset" for each record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/units.h"

namespace pitwall::data {

// The length of a part has 29 bits.
inline constexpr Bytes kMostRecordBytes = (Bytes{1} << 29) - 1;

// Writes a record file and, if asked, its index. Both replace the files at their paths when finish() succeeds, and
// leave them as they are otherwise; a process killed in between may leave the new records without an index, which
// they can be read without. One thread at a time.
class RecordWriter {
 public:
  // `index_path` empty: no index. Errors: invalidInput for a path that is no regular file; io.
  static Result<std::unique_ptr<RecordWriter>> create(const std::string& path,
                                                      const std::string& index_path = {});
  virtual ~RecordWriter() = default;

  // `key` is the record's number in the index. Errors: invalidInput for a record of more than kMostRecordBytes; io,
  // naming the file and what can be done. After an error nothing more can be written.
  virtual Status write(std::uint64_t key, std::span<const std::uint8_t> record) = 0;
  virtual Status finish() = 0;

  virtual Bytes position() const = 0;  // where the next record will start
};

// A place that is not a record: from `offset` on `bytes` bytes were skipped.
struct RecordDamage {
  Bytes offset = 0, bytes = 0;
  std::string what;  // "the file ends after 12 of 480 bytes of the record"
};

// All damage of a file: its sums, and the first places.
struct RecordDamages {
  static constexpr std::size_t kMostKept = 16;
  std::int64_t count = 0;
  Bytes bytes = 0;
  std::vector<RecordDamage> first;

  // "train.rec: 2 damaged places, 960 bytes skipped; at byte 480: ..."; empty without damage.
  std::string describe(const std::string& path) const;
};

struct Record {
  Bytes offset = 0;                     // of its first part
  std::span<const std::uint8_t> bytes;  // without heads
};

// Reads the records of a file one after the other, in large pieces. A damaged record is skipped to the next one.
// One thread at a time.
class RecordReader {
 public:
  static constexpr Bytes kBufferBytes = Bytes{1} << 20;

  // Errors: notFound, io; invalidInput for what is no regular file.
  static Result<std::unique_ptr<RecordReader>> open(const std::string& path,
                                                    Bytes buffer_bytes = kBufferBytes);
  virtual ~RecordReader() = default;

  // False at the end of the file. `record` is valid until the next call. Errors: io, also for a file that becomes
  // shorter while it is read.
  virtual Result<bool> next(Record& record) = 0;

  // Continues at `offset`, where a record should start. Errors: invalidInput for an offset outside the file.
  virtual Status seek(Bytes offset) = 0;

  virtual Bytes position() const = 0;  // behind the last record
  virtual const RecordDamages& damages() const = 0;
};

// Where a record is: `bytes` includes the heads of its parts, and what follows it up to the next record.
struct RecordPlace {
  std::uint64_t key = 0;
  Bytes offset = 0, bytes = 0;
};

struct RecordPlaces {
  std::vector<RecordPlace> places;
  RecordDamages damages;  // only where the record file was examined
};

// The index of a record file of `file_bytes` bytes, in the order of its lines. Errors: notFound, io; invalidInput
// naming the line, also for an offset outside the file.
Result<RecordPlaces> readRecordIndex(const std::string& index_path, Bytes file_bytes);

// Finds the records without an index, by reading their heads; keys count from 0. Errors: as RecordReader.
Result<RecordPlaces> findRecords(const std::string& path);

// Reads records of a file in any order; any number of threads at once.
class RecordFile {
 public:
  // Errors: as RecordReader::open().
  static Result<std::unique_ptr<RecordFile>> open(const std::string& path);
  virtual ~RecordFile() = default;

  virtual Bytes size() const = 0;

  // The record at `place`; its bytes are in `buffer`, which grows as needed. Errors: io; invalidInput naming file,
  // byte and what is damaged.
  virtual Result<Record> read(const RecordPlace& place, std::vector<std::uint8_t>& buffer) const = 0;

  // Whether the file was written since it was opened, so that records are no longer where they were. A new file that
  // replaces it at its path changes nothing: this one stays until it is closed.
  virtual bool hasChanged() const = 0;

  // Starts reading these bytes into the system's cache, without waiting.
  virtual void readAhead(Bytes offset, Bytes bytes) const = 0;
};

// What begins a record of an image: MXNet's IRHeader, 24 bytes, and the labels where there are several.
struct ImageHeader {
  std::vector<float> labels = {0};  // one or more; none counts as one of 0
  std::uint64_t id = 0, id2 = 0;
};

// Appends the header to `to`. One label is in the header itself, as in MXNet.
void appendImageHeader(const ImageHeader& header, std::vector<std::uint8_t>& to);

// Reads the header at the start of `record`, and removes it: what is left is the image's file. The memory of
// `header` is reused. Errors: invalidInput, for a record that is too short for it.
Status takeImageHeader(std::span<const std::uint8_t>& record, ImageHeader& header);

}  // namespace pitwall::data
