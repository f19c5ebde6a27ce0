// Imports traces of other tools. Recognises a file by its content (never by its name), plain or compressed
// with gzip or zstd, and passes its data to a TraceSink. A folder stands for the traces in it. docs/formats.md says what is read from each format.
//
// Input is not trusted: nesting, the length of one record and what a compressed file may grow to are bounded
// (ImportLimits), no path named in a file is opened, and no number read from a file sizes an allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/sink.h"
#include "db/units.h"

namespace pitwall {

// A format that can be imported.
struct ImportFormat {
  std::string name;
  std::string files;  // usual file names, as patterns separated by blanks: "*.sqlite *.db"
};
// All of them. A file is recognised by its content, whatever its name.
std::vector<ImportFormat> importFormats();

struct ImportLimits {
  Bytes record_bytes = Bytes{16} << 20;         // one event of a JSON file; a longer one ends that file
  Bytes line_bytes = Bytes{64} << 10;           // one line of a log; the rest of a longer one is dropped
  Bytes decompressed_bytes = Bytes{1} << 40;    // of one compressed file
  Bytes decompression_ratio = 2000;             // decompressed : compressed, checked beyond the first 64 MiB
  Bytes string_table_bytes = Bytes{256} << 20;  // of a database's table of strings
};

struct ImportProgress {
  std::string input;     // path being read
  Bytes done_bytes = 0;  // of that file on disk
  Bytes total_bytes = 0;
};

struct ImportOptions {
  ImportLimits limits;
  // Called about once per megabyte, from the importing thread.
  std::function<void(const ImportProgress&)> progress;
  // When it becomes true, the import ends with the error `cancelled`. May be set from a signal handler.
  const std::atomic<bool>* cancel = nullptr;
  // The inputs are parts of one recording: settings and tunables of all of them are kept, the last one of a
  // name wins. Else only those of the first input are kept. A framework's profile that cannot be read is left out.
  bool one_recording = false;
  // The file that is written, which is no input where it is in a folder that is one. importToFile sets it.
  std::string output = {};
};

// How often something occurred, with one example ("line 12: ...").
struct ImportCount {
  std::int64_t count = 0;
  std::string example;
};

struct ImportedInput {
  std::string path;
  std::string format;       // "PyTorch Kineto JSON", "oneDNN verbose log", ...
  std::string version;      // as given in the file; may be empty
  std::string compression;  // "none", "gzip", "zstd"
  std::string clock;        // epoch of the file's times
  Bytes file_bytes = 0;
  Bytes content_bytes = 0;  // after decompression
  bool complete = true;     // false: the file ends early or is damaged; `damage` says where
  std::string damage;
};

// The result of an import. Everything is counted; nothing is left out silently.
struct ImportSummary {
  std::vector<ImportedInput> inputs;
  // Contents of the files, in their own terms: "phase X", "category kernel", "rows NVTX_EVENTS", "lines
  // exec".
  std::map<std::string, std::int64_t> records;
  // Contents of the trace: events by kind ("kernel", "api", ...), "counter samples", "dependencies",
  // "iterations".
  std::map<std::string, std::int64_t> events;
  TimeNs begin_ns = 0;  // first and last time of an event, since the trace's start
  TimeNs end_ns = 0;
  std::vector<std::string> devices;
  std::vector<int> ranks;
  std::map<std::string, ImportCount> not_understood;  // unknown, or a trace cannot represent it
  std::map<std::string, ImportCount> repaired;        // imported after a correction
  std::map<std::string, ImportCount> dropped;         // left out because it is invalid
  std::vector<std::string> notes;
  std::vector<std::string> left_out;  // profiles of one recording that cannot be read: a sentence each

  bool complete() const;
  std::int64_t totalEvents() const;  // of all kinds, without counter samples, dependencies and iterations
};

// The summary as the command prints it, several lines.
std::string toText(const ImportSummary& summary);

// Reads the inputs, one after the other, into one trace and finishes the sink. Time 0 of the trace is the
// first time of the first input; inputs whose clocks count from 1970 are placed by that clock, the others
// start at 0 (the summary names the method). A damaged input yields what precedes the damage. Errors:
// notFound and io (the file), invalidInput (no format recognised, or nothing in it can be read), unsupported
// (recognised, but not readable here), cancelled, and the errors of the sink. "-" is standard input; it and pipes are copied first.
Result<ImportSummary> importTrace(std::span<const std::string> inputs, TraceSink& sink,
                                  const ImportOptions& options = {});

// The same into a file. It is written under the name `output`.tmp and renamed at the end, so that a failure
// or a kill never leaves an incomplete trace under the requested name; after a failure the temporary file is
// removed. Nothing is made before the inputs are open. Errors: as importTrace; io when the output cannot be written, or another
// import is writing it (`output`.lock); invalidInput when it exists and is not a trace.
Result<ImportSummary> importToFile(std::span<const std::string> inputs, const std::string& output,
                                   const ImportOptions& options = {});

}  // namespace pitwall
