#include "db/import/torch/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 24;
constexpr std::size_t kMostPlaces = std::size_t{1} << 22;
constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;
constexpr std::size_t kMostPairs = 64;
constexpr std::size_t kLongestLine = 4096;

// Instructions that import, call or change something. https://docs.python.org/3/library/pickletools.html
constexpr std::pair<unsigned char, const char*> kRefused[] = {
    {'c', "GLOBAL"},     {0x93, "STACK_GLOBAL"}, {'i', "INST"},
    {'o', "OBJ"},        {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"},
    {'R', "REDUCE"},     {'b', "BUILD"},         {0x82, "EXT1"},
    {0x83, "EXT2"},      {0x84, "EXT4"},         {'P', "PERSID"},
    {'Q', "BINPERSID"},  {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
    {0x8f, "EMPTY_SET"}, {0x90, "ADDITEMS"},     {0x91, "FROZENSET"}};

}  // namespace

// The first failure stays; after it every function returns nothing.
class PickleMachine {
 public:
  explicit PickleMachine(Window& window) : window_(window) {}

  Result<Pickle> run() {
    bool ended = false;
    while (ok() && !ended) {
      const std::string_view byte = bytes(1);
      if (!ok()) break;
      const auto code = static_cast<unsigned char>(byte[0]);
      ended = code == '.';
      if (!ended) step(code);
      if (ended && stack_.empty()) damaged("it ends without a value");
      const bool too_large = stack_.size() > kMostValues || out_.values_ > kMostValues ||
                             memo_.size() > kMostPlaces || marks_.size() > kMostPlaces ||
                             out_.containers_.size() > kMostPlaces || text_bytes_ > kMostTextBytes;
      if (too_large)
        failed(
            ErrorCode::unsupported,
            "the pickle holds more than 16777216 values, 4194304 containers or 64 MiB of text; record fewer "
            "entries (max_entries)");
    }
    if (!ok()) return fail(status_.error());
    out_.root_ = stack_.back();
    return std::move(out_);
  }

 private:
  bool ok() const { return status_.has_value(); }
  void failed(ErrorCode code, std::string message) {
    if (ok()) status_ = fail(code, std::move(message));
  }
  void damaged(std::string_view why) {
    failed(ErrorCode::invalidInput, fmt::format("the pickle is damaged: {} at {}", why, window_.place()));
  }

  void step(unsigned char code) {
    if (number(code) || textual(code) || container(code) || memory(code)) return;
    const auto* refused = std::find_if(std::begin(kRefused), std::end(kRefused),
                                       [&](const auto& known) { return known.first == code; });
    if (refused == std::end(kRefused))
      return damaged(fmt::format("the instruction {:#04x} is unknown", code));
    refuse(refused->second, code);
  }

  // Names what would be imported, where the instruction gives it.
  void refuse(const char* name, unsigned char code) {
    std::string what;
    if (code == 'c') {
      const std::string module = line();
      what = fmt::format(" {}", quotedText(fmt::format("{}.{}", module, line())));
    } else if (code == 0x93 && stack_.size() >= 2) {
      what = fmt::format(" {}", quotedText(fmt::format("{}.{}", out_.text(stack_[stack_.size() - 2]),
                                                       out_.text(stack_.back()))));
    }
    failed(ErrorCode::invalidInput,
           fmt::format("the pickle calls code of Python, which is never executed: {}{} at {}", name, what,
                       window_.place()));
  }

  // --- Bytes ---
  std::string_view bytes(std::uint64_t count) {
    window_.take(taken_);
    taken_ = 0;
    if (count > kMostTextBytes) damaged("a text is longer than 64 MiB");
    while (ok() && window_.view().size() < count) {
      if (window_.atEnd()) {
        damaged("it ends early");
      } else if (Status more = window_.more(kMostTextBytes * 2); !more.has_value()) {
        failed(more.error().code, more.error().message);
      }
    }
    if (!ok()) return {};
    taken_ = static_cast<std::size_t>(count);
    return window_.view().substr(0, taken_);
  }
  std::uint64_t unsignedNumber(std::size_t size) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char c : bytes(size)) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  }
  // Without its line feed.
  std::string line() {
    std::string out;
    while (ok()) {
      const std::string_view c = bytes(1);
      if (!ok() || c[0] == '\n') break;
      if (out.size() >= kLongestLine) damaged("a line is longer than 4096 bytes");
      out += c[0];
    }
    return out;
  }

  // --- Values ---
  void push(PickleValue value) { stack_.push_back(value); }
  void pushInteger(std::int64_t value, PickleType type = PickleType::integer) {
    PickleValue out;
    out.type = type;
    out.integer = value;
    push(out);
  }
  void pushReal(double value) {
    PickleValue out;
    out.type = PickleType::real;
    out.real = value;
    push(out);
  }
  void pushText(std::string_view text) {
    text_bytes_ += text.size() + sizeof(std::string);
    PickleValue out;
    out.type = PickleType::text;
    out.index = out_.texts_.size();
    out_.texts_.emplace_back(text);
    push(out);
  }
  void pushContainer(PickleType type, std::vector<PickleValue> items) {
    if (type == PickleType::dictionary && items.size() % 2 != 0) damaged("a name has no value");
    out_.values_ += items.size();
    PickleValue out;
    out.type = type;
    out.index = out_.containers_.size();
    out_.containers_.push_back(std::move(items));
    push(out);
  }
  // The values above the last mark, or the topmost `count`.
  std::vector<PickleValue> popToMark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      damaged("a mark is missing");
      return {};
    }
    const std::size_t from = marks_.back();
    marks_.pop_back();
    return pop(stack_.size() - from);
  }
  std::vector<PickleValue> pop(std::size_t count) {
    if (count > stack_.size()) {
      damaged("a value is missing");
      return {};
    }
    std::vector<PickleValue> out(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return out;
  }
  void addTo(PickleType type, const std::vector<PickleValue>& items) {
    if (stack_.empty() || stack_.back().type != type) return damaged("there is no container for a value");
    if (type == PickleType::dictionary && items.size() % 2 != 0) return damaged("a name has no value");
    auto& container = out_.containers_[stack_.back().index];
    container.insert(container.end(), items.begin(), items.end());
    out_.values_ += items.size();
  }

  // --- Instructions; false = another kind of instruction ---
  bool number(unsigned char code) {
    switch (code) {
      case 0x80: bytes(1); return true;  // PROTO
      case 0x95: bytes(8); return true;  // FRAME
      case 'N': push({}); return true;
      case 0x88: pushInteger(1, PickleType::boolean); return true;
      case 0x89: pushInteger(0, PickleType::boolean); return true;
      case 'J': pushInteger(static_cast<std::int32_t>(unsignedNumber(4))); return true;
      case 'K': pushInteger(static_cast<std::int64_t>(unsignedNumber(1))); return true;
      case 'M': pushInteger(static_cast<std::int64_t>(unsignedNumber(2))); return true;
      case 0x8a: longNumber(unsignedNumber(1)); return true;
      case 0x8b: longNumber(unsignedNumber(4)); return true;
      case 'G': binaryReal(); return true;
      case 'I':
      case 'L': integerLine(); return true;
      case 'F': {
        const auto value = parseReal(line());
        if (!value) damaged("a number is missing");
        pushReal(value.value_or(0));
        return true;
      }
      default: return false;
    }
  }

  void binaryReal() {
    std::uint64_t bits = 0;
    for (const char c : bytes(8)) bits = bits << 8 | static_cast<unsigned char>(c);  // the highest byte first
    pushReal(std::bit_cast<double>(bits));
  }

  void integerLine() {
    std::string text = line();
    if (text == "00" || text == "01") return pushInteger(text == "01" ? 1 : 0, PickleType::boolean);
    if (text.ends_with('L')) text.pop_back();
    const auto value = parseInteger(text);
    if (!value) damaged("a number is missing");
    pushInteger(value.value_or(0));
  }

  // The lowest 64 bits.
  void longNumber(std::uint64_t size) {
    const std::string_view raw = bytes(size);
    const bool negative = !raw.empty() && (static_cast<unsigned char>(raw.back()) & 0x80) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(raw.size(), 8); ++i) {
      value &= ~(std::uint64_t{0xFF} << (8 * i));
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
    }
    pushInteger(static_cast<std::int64_t>(value));
  }

  bool textual(unsigned char code) {
    switch (code) {
      case 'U':
      case 'C':
      case 0x8c: pushText(bytes(unsignedNumber(1))); return true;
      case 'T':
      case 'B':
      case 'X': pushText(bytes(unsignedNumber(4))); return true;
      case 0x8d:
      case 0x8e:
      case 0x96: pushText(bytes(unsignedNumber(8))); return true;
      case 'S':
      case 'V': pushText(line()); return true;
      default: return false;
    }
  }

  bool container(unsigned char code) {
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case '0': popOne(); return true;
      case '1': popToMark(); return true;
      case '2':
        if (stack_.empty()) damaged("a value is missing");
        if (ok()) push(stack_.back());
        return true;
      case ']': pushContainer(PickleType::list, {}); return true;
      case '}': pushContainer(PickleType::dictionary, {}); return true;
      case ')': pushContainer(PickleType::tuple, {}); return true;
      case 'l': pushContainer(PickleType::list, popToMark()); return true;
      case 't': pushContainer(PickleType::tuple, popToMark()); return true;
      case 'd': pushContainer(PickleType::dictionary, popToMark()); return true;
      case 0x85:
      case 0x86:
      case 0x87: pushContainer(PickleType::tuple, pop(code - 0x84U)); return true;
      case 'a': addTo(PickleType::list, pop(1)); return true;
      case 'e': addTo(PickleType::list, popToMark()); return true;
      case 's': addTo(PickleType::dictionary, pop(2)); return true;
      case 'u': addTo(PickleType::dictionary, popToMark()); return true;
      default: return false;
    }
  }

  // A value, or a mark that is topmost.
  void popOne() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
    } else {
      pop(1);
    }
  }

  bool memory(unsigned char code) {
    switch (code) {
      case 'q': put(unsignedNumber(1)); return true;
      case 'r': put(unsignedNumber(4)); return true;
      case 0x94: put(memo_.size()); return true;
      case 'h': get(unsignedNumber(1)); return true;
      case 'j': get(unsignedNumber(4)); return true;
      case 'p': put(placeInLine()); return true;
      case 'g': get(placeInLine()); return true;
      default: return false;
    }
  }

  std::uint64_t placeInLine() {
    const auto place = parseInteger(line());
    if (!place || *place < 0) damaged("a number is missing");
    return static_cast<std::uint64_t>(place.value_or(0));
  }

  // Places are dense, but for values that Python left out again.
  void put(std::uint64_t place) {
    if (stack_.empty()) damaged("a value is missing");
    if (place > memo_.size() + 4096) damaged("a place in memory is out of range");
    if (!ok()) return;
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = stack_.back();
  }
  void get(std::uint64_t place) {
    if (place >= memo_.size() || !memo_[place]) damaged("a place in memory is empty");
    if (ok()) push(*memo_[place]);
  }

  Window& window_;
  Status status_;
  std::size_t taken_ = 0;
  Pickle out_;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::optional<PickleValue>> memo_;
  std::size_t text_bytes_ = 0;
};

Result<Pickle> Pickle::read(Window& window) { return PickleMachine(window).run(); }

std::string_view Pickle::text(const PickleValue& value) const {
  return value.type == PickleType::text ? std::string_view(texts_[value.index]) : std::string_view();
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
  const bool holds = value.type == PickleType::list || value.type == PickleType::tuple ||
                     value.type == PickleType::dictionary;
  return holds ? std::span<const PickleValue>(containers_[value.index]) : std::span<const PickleValue>();
}

PickleValue Pickle::member(const PickleValue& dictionary, std::string_view name) const {
  if (dictionary.type != PickleType::dictionary) return {};
  const auto all = items(dictionary);
  for (std::size_t i = 0; i + 1 < std::min(all.size(), 2 * kMostPairs); i += 2) {
    if (text(all[i]) == name && all[i].type == PickleType::text) return all[i + 1];
  }
  return {};
}

}  // namespace pitwall::import
