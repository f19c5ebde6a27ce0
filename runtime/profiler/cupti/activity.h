// The contents of CUPTI's records without its types, so that all code except the conversion is compiled and
// tested without CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/occupancy.h"
#include "runtime/profiler.h"

namespace pitwall::cupti {

struct LaunchFacts {
  std::array<std::int32_t, 3> grid = {}, block = {};
  int registers_per_thread = 0;
  Bytes static_shared_bytes = 0, dynamic_shared_bytes = 0;
  Bytes shared_bytes_configured = 0;
  Bytes local_bytes = 0;    // of a thread
  int resident_blocks = 0;  // that the driver says fit on a multiprocessor; 0 = computed from the above
  bool operator==(const LaunchFacts&) const = default;
};

// A text that many activities share.
struct Text {
  std::string text;
  std::uint32_t number = 0;  // among those of one Texts, from 0
};

class Texts {
 public:
  // The same one for the same text, as long as this lives.
  const Text* of(std::string_view text) {
    const auto found = by_text_.find(text);
    if (found != by_text_.end()) return found->second;
    const Text& made = all_.emplace_back(Text{std::string(text), static_cast<std::uint32_t>(all_.size())});
    by_text_.emplace(made.text, &made);
    return &made;
  }

 private:
  std::deque<Text> all_;
  std::unordered_map<std::string_view, const Text*> by_text_;
};

struct Activity {
  enum class Place : std::uint8_t {
    stream,
    synchronisation,
    thread,
    overhead,
    migrations,
    pageFaults,
    counted
  };
  Place place = Place::stream;
  EventKind kind = EventKind::kernel;
  Ticks start = 0, end = 0;
  const Text* name = nullptr;
  const Text* args = nullptr;  // a JSON object, if any
  std::int64_t value = 0;
  std::optional<std::uint32_t> device;  // none: that of the context; of pageFaults the host
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::int64_t tid = 0;           // of a thread
  std::uint32_t correlation = 0;  // CUPTI's: of a call and all work that it launched; 0 = none
  bool is_driver_call = false;    // may be within a runtime call of the same correlation
  bool may_be_query = false;      // a synchronisation that a query is recorded as, too
  std::int32_t launch = -1;       // in Activities::launches; -1 = none
};

// Work launched by the call `correlation` belongs to this operator.
struct OperatorLink {
  std::uint32_t correlation = 0;
  CorrelationId op = 0;
};

struct MemoryChange {
  Ticks time = 0;
  std::uint32_t device = 0;
  std::string kind;  // "device", "managed", "pinned host", ...
  Bytes delta = 0;
};

// The value of a hardware counter while a kernel ran.
struct CounterValue {
  Ticks time = 0;  // the kernel's start
  std::uint32_t device = 0;
  const Text* name = nullptr;
  double value = 0;
};

struct DeviceFacts {
  std::uint32_t index = 0;
  std::string name;
  Bytes memory_bytes = 0;
  int multiprocessors = 0;
  MultiprocessorLimits limits;
};

struct ContextFacts {
  std::uint32_t context = 0, device = 0;
};

// All texts are of one Texts.
struct Activities {
  std::vector<Activity> events;
  std::vector<LaunchFacts> launches;
  std::vector<OperatorLink> links;
  std::vector<MemoryChange> memory;
  std::vector<CounterValue> counters;
  std::vector<DeviceFacts> devices;
  std::vector<ContextFacts> contexts;
  bool uses_managed_memory = false;
  std::int64_t without_time = 0;  // CUPTI had no space to record their times
  std::int64_t unknown = 0;       // records of a kind that is not read

  // Keeps its memory.
  void clear() {
    events.clear();
    launches.clear();
    links.clear();
    memory.clear();
    counters.clear();
    devices.clear();
    contexts.clear();
    uses_managed_memory = false;
    without_time = unknown = 0;
  }
};

}  // namespace pitwall::cupti
