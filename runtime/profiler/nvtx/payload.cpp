#include "runtime/profiler/nvtx/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "db/json_string.h"
#include "runtime/profiler/nvtx/names.h"

namespace pitwall::nvtx {

namespace {

constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kMostElements = 16;  // written of an array
constexpr int kMostDepth = 4;              // of nested schemas
constexpr std::size_t kMostText = 4096;

template <class T>
T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string number(double value) {
  if (!std::isfinite(value)) return jsonString(fmt::format("{}", value));  // JSON has no infinity
  return fmt::format("{}", value);
}

double halfToDouble(std::uint16_t half) {
  const int exponent = half >> 10U & 0x1F;
  const int mantissa = half & 0x3FF;
  double value = exponent == 0    ? std::ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                  : std::ldexp(mantissa + 1024, exponent - 25);
  return (half & 0x8000U) != 0 ? -value : value;
}

bool isText(std::uint64_t type) { return type == abi::kTypeCstring || type == abi::kTypeCstringUtf8; }

// Size of a predefined type; alignment is the same. 0 = not understood.
std::size_t sizeOf(std::uint64_t type) {
  using namespace abi;
  switch (type) {
    case kTypeChar:
    case kTypeUchar:
    case kTypeInt8:
    case kTypeUint8:
    case kTypeByte: return 1;
    case kTypeShort:
    case kTypeUshort:
    case kTypeInt16:
    case kTypeUint16:
    case kTypeFloat16:
    case kTypeBf16: return 2;
    case kTypeInt:
    case kTypeUint:
    case kTypeInt32:
    case kTypeUint32:
    case kTypeFloat:
    case kTypeFloat32:
    case kTypeTf32:
    case kTypeCategory:
    case kTypeColor:
    case kTypePid32:
    case kTypeTid32: return 4;
    case kTypeLong:
    case kTypeUlong:
    case kTypeLonglong:
    case kTypeUlonglong:
    case kTypeInt64:
    case kTypeUint64:
    case kTypeDouble:
    case kTypeFloat64:
    case kTypeSize:
    case kTypeAddress:
    case kTypeScope:
    case kTypePid64:
    case kTypeTid64:
    case kTypeRegisteredString: return 8;
    default: return 0;
  }
}

std::optional<std::int64_t> integer(std::uint64_t type, std::span<const std::byte> bytes) {
  using namespace abi;
  switch (type) {
    case kTypeInt8: return read<std::int8_t>(bytes);
    case kTypeUchar:
    case kTypeUint8:
    case kTypeByte: return read<std::uint8_t>(bytes);
    case kTypeShort:
    case kTypeInt16: return read<std::int16_t>(bytes);
    case kTypeUshort:
    case kTypeUint16: return read<std::uint16_t>(bytes);
    case kTypeInt:
    case kTypeInt32: return read<std::int32_t>(bytes);
    case kTypeUint:
    case kTypeUint32:
    case kTypeCategory:
    case kTypePid32:
    case kTypeTid32: return read<std::uint32_t>(bytes);
    case kTypeLong:
    case kTypeUlong:
    case kTypeLonglong:
    case kTypeUlonglong:
    case kTypeInt64:
    case kTypeUint64:
    case kTypeSize:
    case kTypeScope:
    case kTypePid64:
    case kTypeTid64: return read<std::int64_t>(bytes);
    default: return {};
  }
}

}  // namespace

struct Schemas::Writer {
  DecodedPayload result;

  void member(const std::string& name, const std::string& json) {
    if (!result.members.empty()) result.members += ',';
    result.members += jsonString(name) + ':' + json;
  }
};

std::optional<Schemas::Layout> Schemas::layoutOf(std::uint64_t type) const {
  if (const std::size_t size = sizeOf(type); size != 0) return Layout{size, size};
  if (const auto schema = schemas_.find(type); schema != schemas_.end())
    return Layout{schema->second.size, schema->second.align};
  if (const auto size = enum_sizes_.find(type); size != enum_sizes_.end())
    return Layout{size->second, size->second};
  return {};
}

std::uint64_t Schemas::add(const abi::SchemaAttributes& attributes) {
  constexpr std::uint64_t kStatic = 1, kDynamic = 2;
  if (attributes.entries == nullptr || attributes.entry_count > kMostEntries) return 0;
  if (attributes.type != kStatic && attributes.type != kDynamic) return 0;
  const ScopedLock lock(mutex_);
  Schema schema;
  if ((attributes.fields & abi::kSchemaHasName) != 0 && attributes.name != nullptr)
    schema.name = attributes.name;
  const std::size_t pack = (attributes.fields & abi::kSchemaHasAlignment) != 0 && attributes.pack_align != 0
                               ? attributes.pack_align
                               : sizeof(std::uint64_t);
  std::size_t end = 0;
  for (const abi::SchemaEntry& given : std::span(attributes.entries, attributes.entry_count)) {
    Entry entry{given.flags, given.type, given.array_detail, given.name == nullptr ? "" : given.name, 0, 0};
    const bool is_pointer = (given.flags & abi::kEntryPointer) != 0;
    const bool is_fixed = (given.flags & abi::kEntryArrayMask) == abi::kEntryFixedArray;
    Layout layout{sizeof(void*), sizeof(void*)};
    if (isText(given.type)) {
      if (given.array_detail > 0 && !is_pointer) layout = {given.array_detail, 1};
    } else if (!is_pointer) {
      const auto known = layoutOf(given.type);
      // Without its size the next entries need an explicit offset.
      layout = known.value_or(Layout{0, 1});
    }
    entry.size = layout.size;
    const std::size_t align = std::max<std::size_t>(1, std::min(layout.align, pack));
    schema.align = std::max(schema.align, align);
    entry.offset = given.offset != 0 ? given.offset : (end + align - 1) / align * align;
    const std::size_t count = is_fixed && !isText(given.type) && !is_pointer ? given.array_detail : 1;
    end = entry.offset + layout.size * std::min<std::size_t>(count, 1U << 20U);
    schema.entries.push_back(std::move(entry));
  }
  schema.size = (attributes.fields & abi::kSchemaHasStaticSize) != 0 && attributes.static_size != 0
                    ? attributes.static_size
                    : (end + schema.align - 1) / schema.align * schema.align;
  const bool chosen = (attributes.fields & abi::kSchemaHasId) != 0 && attributes.id != 0;
  const std::uint64_t id = chosen ? attributes.id : next_++;
  schemas_.insert_or_assign(id, std::move(schema));
  return id;
}

std::uint64_t Schemas::add(const abi::EnumAttributes& attributes) {
  if (attributes.entries == nullptr || attributes.entry_count > kMostEntries) return 0;
  const ScopedLock lock(mutex_);
  const bool chosen = (attributes.fields & abi::kEnumHasId) != 0 && attributes.id != 0;
  const std::uint64_t id = chosen ? attributes.id : next_++;
  auto& names = enums_[id];
  for (const abi::EnumEntry& entry : std::span(attributes.entries, attributes.entry_count)) {
    if (entry.name != nullptr) names[entry.value] = entry.name;
  }
  enum_sizes_[id] = std::min<std::size_t>(attributes.size_of_enum, sizeof(std::uint64_t));
  return id;
}

DecodedPayload Schemas::decode(std::span<const abi::PayloadData> payloads) const {
  const ScopedLock lock(mutex_);
  Writer out;
  for (const abi::PayloadData& payload : payloads) {
    const auto schema = schemas_.find(payload.schema);
    if (schema == schemas_.end() || payload.data == nullptr) continue;
    const std::size_t size = std::min(payload.size, schema->second.size);
    decode(schema->second, {static_cast<const std::byte*>(payload.data), size}, 0, out);
    if (out.result.message.empty()) out.result.message = schema->second.name;
  }
  return std::move(out.result);
}

void Schemas::decode(const Schema& schema, std::span<const std::byte> bytes, int depth, Writer& out) const {
  for (const Entry& entry : schema.entries) {
    if (entry.offset > bytes.size() || (entry.flags & abi::kEntryHidden) != 0) continue;
    decodeEntry(entry, bytes.subspan(entry.offset), depth, out);
  }
}

void Schemas::decodeEntry(const Entry& entry, std::span<const std::byte> bytes, int depth,
                          Writer& out) const {
  const std::uint64_t array = entry.flags & abi::kEntryArrayMask;
  if (entry.size == 0 || bytes.size() < entry.size || (array != 0 && array != abi::kEntryFixedArray)) return;
  if (isText(entry.type)) {
    const std::string value = text(entry, bytes);
    if ((entry.flags & abi::kEntryMessage) != 0)
      out.result.message = value;
    else
      out.member(entry.name, jsonString(value));
    return;
  }
  if ((entry.flags & abi::kEntryPointer) != 0) return;  // an address in the program: may be invalid
  if (entry.type == abi::kTypeRegisteredString && (entry.flags & abi::kEntryMessage) != 0) {
    const auto* string = read<const RegisteredString*>(bytes);
    if (string != nullptr) out.result.message = string->text;
    return;
  }
  if (array == 0) {
    const std::string value = scalar(entry.type, bytes.first(entry.size), depth, out);
    if (!value.empty()) out.member(entry.name, value);
    return;
  }
  std::string list;
  const std::size_t count =
      std::min({static_cast<std::size_t>(entry.detail), kMostElements, bytes.size() / entry.size});
  for (std::size_t i = 0; i < count; ++i) {
    const std::string value = scalar(entry.type, bytes.subspan(i * entry.size, entry.size), depth, out);
    if (value.empty()) return;
    list += (i == 0 ? "" : ",") + value;
  }
  out.member(entry.name, "[" + list + "]");
}

std::string Schemas::text(const Entry& entry, std::span<const std::byte> bytes) const {
  if (entry.detail > 0 && (entry.flags & abi::kEntryPointer) == 0) {
    const char* const begin = reinterpret_cast<const char*>(bytes.data());
    return {begin, strnlen(begin, std::min(entry.size, kMostText))};
  }
  const char* const pointed = read<const char*>(bytes);
  return pointed == nullptr ? std::string() : std::string(pointed, strnlen(pointed, kMostText));
}

std::string Schemas::scalar(std::uint64_t type, std::span<const std::byte> bytes, int depth,
                            Writer& out) const {
  using namespace abi;
  if (const auto named = enums_.find(type); named != enums_.end()) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    const auto name = named->second.find(value);
    return name == named->second.end() ? std::to_string(value) : jsonString(name->second);
  }
  if (const auto schema = schemas_.find(type); schema != schemas_.end()) {
    if (depth == kMostDepth) return {};
    Writer inner;
    decode(schema->second, bytes, depth + 1, inner);
    return "{" + inner.result.members + "}";
  }
  switch (type) {
    case kTypeChar: {
      const char c = read<char>(bytes);
      return jsonString({&c, 1});
    }
    case kTypeFloat:
    case kTypeFloat32:
    case kTypeTf32: return number(read<float>(bytes));
    case kTypeDouble:
    case kTypeFloat64: return number(read<double>(bytes));
    case kTypeFloat16: return number(halfToDouble(read<std::uint16_t>(bytes)));
    case kTypeBf16: return number(std::bit_cast<float>(std::uint32_t{read<std::uint16_t>(bytes)} << 16U));
    case kTypeAddress: return fmt::format("\"{:#x}\"", read<std::uint64_t>(bytes));
    case kTypeColor: return fmt::format("\"#{:08x}\"", read<std::uint32_t>(bytes));
    case kTypeRegisteredString: {
      const auto* string = read<const RegisteredString*>(bytes);
      return string == nullptr ? "\"\"" : jsonString(string->text);
    }
    default: break;
  }
  const auto value = integer(type, bytes);
  if (!value) return {};
  if (!out.result.value) out.result.value = value;
  const bool is_unsigned = type == kTypeUlong || type == kTypeUlonglong || type == kTypeUint64 ||
                           type == kTypeSize || type == kTypeScope || type == kTypePid64 ||
                           type == kTypeTid64;
  return is_unsigned ? std::to_string(static_cast<std::uint64_t>(*value)) : std::to_string(*value);
}

}  // namespace pitwall::nvtx
