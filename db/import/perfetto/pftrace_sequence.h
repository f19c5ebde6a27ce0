// The state of one sequence of a Perfetto trace's packets: names by number, defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/build/builder.h"

namespace pitwall::import {

class PftraceSequence {
 public:
  using Texts = std::unordered_map<std::uint64_t, std::string>;

  void intern(std::string_view message);    // InternedData
  void defaults(std::string_view message);  // TracePacketDefaults
  void clear();                             // the incremental state

  const std::string* name(std::uint64_t id) const { return find(names_, id); }
  const std::string* category(std::uint64_t id) const { return find(categories_, id); }
  const std::string* annotationName(std::uint64_t id) const { return find(annotation_names_, id); }
  const std::string* annotationText(std::uint64_t id) const { return find(annotation_texts_, id); }

  std::size_t internedBytes() const { return interned_bytes_; }

  bool seen = false;     // one of its packets came before; clear() does not change it
  bool cleared = false;  // it has a beginning: packets that need its state can be read
  std::uint64_t default_clock = 0;
  std::uint64_t default_track = 0;
  bool has_default_track = false;
  std::optional<TrackRef> thread;  // of a thread descriptor, for events without a track
  // Of the thread's descriptor and then of the last event whose time counts from it, CLOCK_MONOTONIC.
  std::optional<std::int64_t> thread_time_us;

 private:
  static const std::string* find(const Texts& texts, std::uint64_t id) {
    const auto found = texts.find(id);
    return found == texts.end() ? nullptr : &found->second;
  }

  Texts categories_, names_, annotation_names_, annotation_texts_;
  std::size_t interned_bytes_ = 0;  // of all four
};

// The debug annotations of one event, as a JSON object.
class PftraceAnnotations {
 public:
  explicit PftraceAnnotations(const PftraceSequence& sequence) : sequence_(sequence) {}

  void add(std::string_view message);  // DebugAnnotation
  void text(std::string_view key, std::string_view value);
  // "" when there are none; nullopt when it is too long to be kept.
  std::optional<std::string> object() const;

 private:
  static constexpr std::size_t kLongest = 1024;
  static constexpr int kDeepest = 8;

  void value(std::string_view message, int depth, std::string& out) const;
  std::string keyOf(std::string_view message) const;

  const PftraceSequence& sequence_;
  std::string members_;
};

}  // namespace pitwall::import
