// Whether a JSON text is a Chrome Trace Event file, from its start.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::import {

struct JsonStart {
  bool is_trace = false;  // an object with traceEvents, an array of events, or one event per line
  std::string problem;    // JSON, but none of these, or damaged; "" for other text
};

// `text` is the start of the file, without leading blanks; it may end anywhere.
JsonStart jsonStart(std::string_view text);

}  // namespace pitwall::import
