// NVTX's payload extension: a schema describes the layout of an event's bytes; decoding them gives members of
// a JSON object.
//
// Supported: static schemas of scalars, fixed-size strings and arrays, C strings, registered strings, enums
// and nested schemas. Other entries are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler/nvtx/abi.h"

namespace pitwall::nvtx {

struct DecodedPayload {
  std::string members;                // "\"loss\":0.5,\"step\":3"; empty when nothing was decoded
  std::string message;                // of the entry that is the event's message
  std::optional<std::int64_t> value;  // of the first integer
};

class Schemas {
 public:
  // The id used in payloads: the one that the program chose, else a new one. 0 when the schema is not
  // supported.
  std::uint64_t add(const abi::SchemaAttributes& attributes);
  std::uint64_t add(const abi::EnumAttributes& attributes);

  // Reads only within each payload's size.
  DecodedPayload decode(std::span<const abi::PayloadData> payloads) const;

  Mutex& mutex() PITWALL_RETURN_CAPABILITY(mutex_) { return mutex_; }  // fork() holds it

 private:
  struct Entry {
    std::uint64_t flags, type, detail;
    std::string name;
    std::size_t offset, size;  // size of one element
  };
  struct Schema {
    std::string name;
    std::vector<Entry> entries;
    std::size_t size = 0, align = 1;
  };
  struct Layout {
    std::size_t size, align;
  };
  struct Writer;

  std::optional<Layout> layoutOf(std::uint64_t type) const PITWALL_REQUIRES(mutex_);
  void decode(const Schema& schema, std::span<const std::byte> bytes, int depth, Writer& out) const
      PITWALL_REQUIRES(mutex_);
  void decodeEntry(const Entry& entry, std::span<const std::byte> bytes, int depth, Writer& out) const
      PITWALL_REQUIRES(mutex_);
  std::string text(const Entry& entry, std::span<const std::byte> bytes) const;
  std::string scalar(std::uint64_t type, std::span<const std::byte> bytes, int depth, Writer& out) const
      PITWALL_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::uint64_t, Schema> schemas_ PITWALL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::map<std::uint64_t, std::string>> enums_ PITWALL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::size_t> enum_sizes_ PITWALL_GUARDED_BY(mutex_);
  std::uint64_t next_ PITWALL_GUARDED_BY(mutex_) = std::uint64_t{1} << 32U;
};

}  // namespace pitwall::nvtx
