// One parsed verbose line of oneDNN (MKL-DNN 0.x to oneDNN 3.x) or MKL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pitwall::import {

struct VerboseLine {
  enum class Kind : std::uint8_t {
    execution,     // of a primitive
    creation,      // of a primitive: create:cache_hit, create:cache_miss
    graph,         // execution of a partition of the graph interface
    dispatch,      // why an implementation was not chosen; no time
    information,   // version, instruction set, template
    library_call,  // MKL_VERBOSE
    torn,          // the line is incomplete or two lines are mixed
    other,
  };
  Kind kind = Kind::other;
  std::optional<std::int64_t> timestamp_ns;  // since 1970, begin
  std::optional<std::int64_t> dur_ns;
  bool decimal_comma = false;
  std::string_view operation;  // "exec", "create:cache_hit"
  std::string_view engine;     // "cpu", "gpu"; empty in 0.x
  std::string_view primitive;
  std::string_view implementation;
  std::string_view propagation;
  std::string_view memory;  // memory descriptors, spaces between
  std::string_view problem;
  std::string_view text;  // of information: what follows "info,"
};

// Parses the text after a marker ("onednn_verbose,") up to the end of the line or the next marker.
VerboseLine parseVerbose(std::string_view rest);
// Parses the text after "MKL_VERBOSE ".
VerboseLine parseMklVerbose(std::string_view rest);

// "f32" of "src_f32::blocked:abcd:f0 wei_..." or "src:f32:a:blocked:..." or "fsrc:nchw"; empty when unknown.
std::string dataTypeOf(std::string_view memory);

// The position of the next oneDNN marker at or after `from`, and of its first field.
struct Marker {
  std::size_t at = 0;
  std::size_t fields = 0;
};
std::optional<Marker> findMarker(std::string_view line, std::size_t from);

}  // namespace pitwall::import
