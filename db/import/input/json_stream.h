// Reads a JSON document of any size member by member; only the value that is asked for is held as a whole.
// Damage ends all loops; finish() reports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "db/import/build/tally.h"
#include "db/import/input/json.h"
#include "db/import/input/window.h"

namespace pitwall::import {

class JsonStream {
 public:
  // Values longer than `longest` are damage. `window` outlives the stream.
  JsonStream(Window& window, Bytes longest) : window_(window), longest_(static_cast<std::size_t>(longest)) {}
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  // The first character of the next value, 0 at the end or after damage.
  char peek();
  // The value; valid until the next call. Of type `none` after damage.
  JsonValue value();
  // Over a value of any length.
  void skip();
  // Of an object: `visit(name)` for each member, with the stream at its value; what it does not read is skipped. A
  // value that is no object is skipped.
  template <class Visit>
  void members(const Visit& visit) {
    if (!enter('{')) return skip();
    std::string name;
    while (member(name)) {
      const std::int64_t before = position();
      visit(std::string_view(name));
      if (ok() && position() == before) skip();
    }
  }
  // Of an array, likewise.
  template <class Visit>
  void elements(const Visit& visit) {
    if (!enter('[')) return skip();
    while (element()) {
      const std::int64_t before = position();
      visit();
      if (ok() && position() == before) skip();
    }
  }

  bool ok() const { return status_.has_value() && damage_.empty(); }
  std::string place() const { return window_.place(pending_); }
  // Reports damage, also of the compressed file. Errors: as Window::more, but for the limits of one value.
  Status finish(Tally& tally);

 private:
  bool enter(char bracket);
  bool member(std::string& name);
  bool element();
  std::int64_t position() const { return window_.offset() + static_cast<std::int64_t>(pending_); }
  void drop() {
    window_.take(pending_);
    pending_ = 0;
  }
  bool more();  // false where nothing can be added
  void take(std::size_t bytes) { pending_ = bytes; }
  void damaged(std::string_view why);

  Window& window_;
  const std::size_t longest_;
  std::size_t pending_ = 0;  // of the window's front: the last value
  Status status_;
  std::string damage_;
};

}  // namespace pitwall::import
