#include "analyzer/record/stacks/python_code.h"

#include <algorithm>
#include <cstring>

namespace pitwall::record {
namespace {

constexpr std::uint64_t kMostCharacters = 4096;
constexpr std::int64_t kMostLineBytes = 1 << 20;
constexpr std::size_t kMostCachedBytes = 64 << 20;
constexpr std::size_t kBytesOfEntry = 64;  // of a hash table, about

void appendUtf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    if (c >= 0xd800 && c < 0xe000) c = 0xfffd;  // half of a pair
    text += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
             static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x110000) {
    text += {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
             static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  }
}

std::optional<std::vector<std::uint8_t>> pythonBytes(const ProcessMemory& memory, Address at) {
  const auto size = memory.value<std::int64_t>(at + 16);
  if (!size || *size < 0 || *size > kMostLineBytes) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(*size));
  if (!bytes.empty() && !memory.read(at + 32, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::string> pythonText(const ProcessMemory& memory, const PythonLayout& layout, Address at) {
  struct {
    std::uint64_t length, hash;
    std::uint32_t state;
  } head{};
  if (!memory.read(at + 16, &head, 20)) return std::nullopt;
  const std::uint32_t width = head.state >> 2 & 7;
  const bool compact = (head.state >> 5 & 1) != 0, ascii = (head.state >> 6 & 1) != 0;
  if (!compact || head.length > kMostCharacters || (width != 1 && width != 2 && width != 4))
    return std::nullopt;
  std::vector<std::uint8_t> bytes(head.length * width);
  if (!bytes.empty() &&
      !memory.read(at + (ascii ? layout.ascii_header : layout.compact_header), bytes.data(), bytes.size()))
    return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::uint32_t c = 0;
    std::memcpy(&c, &bytes[i], width);
    appendUtf8(text, c);
  }
  return text;
}

std::size_t PythonCode::headerSize() const {
  const auto& code = layout_.code;
  return std::max({code.file, code.name, code.qualified_name, code.first_line, code.lines}) +
         sizeof(Address) - kFrom;
}

template <class T>
T PythonCode::field(const Header& header, std::uint32_t offset) const {
  T value{};
  std::memcpy(&value, header.data() + offset - kFrom, sizeof value);
  return value;
}

// The first object's type must be named "code"; the others must have the same.
bool PythonCode::isCode(const Header& header) {
  const auto type = field<Address>(header, 8);
  if (code_type_ != 0) return type == code_type_;
  const auto name = memory_.value<Address>(type + 24);
  char text[5] = {};
  if (!name || !memory_.read(*name, text, sizeof text) || std::memcmp(text, "code", 5) != 0) return false;
  code_type_ = type;
  return true;
}

std::optional<PythonCode::Code> PythonCode::load(const Header& header) const {
  Code code;
  code.header = header;
  const std::uint32_t name_at =
      layout_.code.qualified_name != 0 ? layout_.code.qualified_name : layout_.code.name;
  auto function = pythonText(memory_, layout_, field<Address>(header, name_at));
  auto file = pythonText(memory_, layout_, field<Address>(header, layout_.code.file));
  auto lines = pythonBytes(memory_, field<Address>(header, layout_.code.lines));
  if (!function || !file || !lines) return std::nullopt;
  code.function = std::move(*function);
  code.file = std::move(*file);
  code.lines = std::move(*lines);
  code.first_line = field<std::int32_t>(header, layout_.code.first_line);
  code.bytes = sizeof code + code.function.size() + code.file.size() + code.lines.size();
  return code;
}

std::uint32_t PythonCode::frameAt(Code& code, std::int64_t byte) {
  const auto known = code.frames.find(byte);
  if (known != code.frames.end()) return known->second;
  const int line = lineAt(layout_.line_format, code.lines, code.first_line, byte);
  const std::uint32_t frame =
      frames_.number({.function = code.function, .file = code.file, .line = line, .language = "python"});
  code.frames.emplace(byte, frame);
  code.bytes += kBytesOfEntry;
  bytes_ += kBytesOfEntry;
  return frame;
}

PythonCode::Code* PythonCode::codeAt(Address at, const Header& header) {
  if (codes_.size() > kMostCodes || bytes_ > kMostCachedBytes) {
    codes_.clear();
    bytes_ = 0;
  }
  const auto [known, fresh] = codes_.try_emplace(at);
  if (!fresh && known->second.header == header) return &known->second;
  bytes_ -= known->second.bytes;
  auto code = load(header);
  if (!code) {
    codes_.erase(known);
    return nullptr;
  }
  known->second = std::move(*code);
  bytes_ += known->second.bytes;
  return &known->second;
}

bool PythonCode::resolve(std::span<const Place> places, std::vector<std::uint32_t>& into) {
  if (places.empty()) return true;
  headers_.assign(places.size(), Header{});
  std::vector<ProcessMemory::Part> parts;
  for (std::size_t i = 0; i < places.size(); ++i)
    parts.push_back({places[i].code + kFrom, headers_[i].data(), headerSize()});
  if (!memory_.read(parts)) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!isCode(headers_[i])) return false;
    Code* const code = codeAt(places[i].code, headers_[i]);
    if (code == nullptr) return false;
    into.push_back(frameAt(*code, places[i].byte));
  }
  return true;
}

}  // namespace pitwall::record
