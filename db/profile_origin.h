// What a profile that a framework wrote in a recorded program does not contain: a text file NAME.about beside it, of lines
// "KEY VALUE" after the first line. Written by runtime/profiler/inject/python/_pitwall_recorders/about.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/result.h"

namespace pitwall {

inline constexpr std::string_view kProfileOriginName = ".about";  // the end of its name
inline constexpr std::string_view kProfileOriginLine = "pitwall: about a profile";

struct ProfileOrigin {
  std::string framework;                                        // "ONNX Runtime"
  std::string path;                                             // of the profile; empty: there is none (yet)
  std::int64_t pid = 0;                                         // of the process that wrote it; 0 = unknown
  std::optional<std::int64_t> start_unix_ns;                    // of the profile's time 0, ns since 1970
  std::vector<std::pair<std::uint64_t, std::int64_t>> threads;  // pthread_t and system's id of a thread
  std::vector<std::string> notes;                               // sentences
};

// Unknown keys are ignored, of a key that is given twice the last counts (threads and notes: all). Errors: io when the file
// cannot be read, invalidInput when it begins with another line.
Result<ProfileOrigin> readProfileOrigin(const std::string& path);

}  // namespace pitwall
