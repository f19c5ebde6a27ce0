// The formats that can be imported, one row of a table each. Adding one: a folder with its reader, declared in
// readers.h, and a row in formats.cpp. Error messages and file dialogs are made from the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/input/input_list.h"
#include "db/import/input/window.h"

namespace pitwall::import {

// The start of an input, decompressed: about 64 KiB, or all of a shorter one.
struct FileStart {
  std::string_view bytes;
  std::string_view text;  // without byte order mark and leading blanks; empty when it is not text
};
FileStart fileStart(std::string_view bytes);

struct OpenedInput {
  Window& window;  // at the start of the input
  const InputFile& file;
  const ImportOptions& options;
  Builder& builder;
};

enum class FormatId : std::uint8_t {
  pitwallTrace,
  pitwallRows,
  nvprofDatabase,
  rocpd,
  nsightSqlite,
  verboseLog,
  mxnetTable,
  ncclInspector,
  nvprofCsv,
  rocmCsv,
  rocmJson,
  executionTrace,
  memorySnapshot,
  onnxRuntime,
  xlaTraceJson,
  xplane,
  perfetto,
  perfScript,
  speedscope,
  collapsedStacks,
  chromeJson
};

struct Format {
  FormatId id;
  const char* name;   // in messages and documents: "Chrome Trace Event JSON"
  const char* files;  // patterns for file dialogs, separated by blanks; the content alone decides
  bool (*recognise)(const FileStart&);
  Status (*read)(const OpenedInput&);
};

// In the order in which they are tried.
std::span<const Format> formats();

// "formats that can be read: Pitwall traces; ...", for messages.
std::string knownFormats();

// The first that recognises the input; null when none does.
const Format* formatOf(const FileStart& start);

// What an input looks like that no format recognises.
struct Unrecognised {
  std::string why;
  bool is_log = false;  // text of an unknown kind: lines of a verbose log may follow much other output
};
Unrecognised unrecognised(const FileStart& start, std::string_view path = {});

}  // namespace pitwall::import
