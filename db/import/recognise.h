// Which format an input has, from the first bytes of its content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall::import {

enum class Format : std::uint8_t {
  unknown,
  sqlite,         // any SQLite database; the Nsight reader examines it
  chromeJson,     // an object with traceEvents, or an array of events
  jsonLines,      // one object a line: events, or SageMaker's samples
  oneDnnLog,      // text with verbose lines of oneDNN or MKL or debug lines of NCCL in it
  ncclInspector,  // lines of NCCL's inspector
  mxnetTable,     // text with the tables that mxnet.profiler.dumps() returns
};

struct Recognised {
  Format format = Format::unknown;
  std::string why_not;  // unknown: what the file looks like
};

// `start` is the start of the input, decompressed (about 64 KiB, or all of a shorter one).
Recognised recognise(std::string_view start);

}  // namespace pitwall::import
