// Reads the memory snapshot of PyTorch's allocator (torch.cuda.memory._dump_snapshot): what it allocated and freed on
// each device, and the memory that was in use. The file is a pickle, of which only data are read.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/torch/pickle.h"
#include "db/import/torch/torch_start.h"
#include "db/json_string.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostDevices = 1024;

class MemorySnapshot {
 public:
  MemorySnapshot(const Pickle& pickle, const ImportOptions& options, Builder& builder)
      : pickle_(pickle), options_(options), builder_(builder), process_(builder.tracks().process("0")) {}

  Status run();

 private:
  struct Use {
    std::int64_t allocated = 0, reserved = 0;
  };
  // What an entry does to the memory in use.
  static Use effectOf(std::string_view action, std::int64_t size);

  std::int64_t integer(const PickleValue& dictionary, std::string_view name) const {
    const PickleValue value = pickle_.member(dictionary, name);
    return value.type == PickleType::integer ? value.integer : 0;
  }
  std::int64_t size(const PickleValue& dictionary, std::string_view name) const {
    const std::int64_t bytes = integer(dictionary, name);
    return bytes > 0 && bytes < kLatestNs >> 8 ? bytes : 0;
  }
  void segments();
  Status device(std::size_t index, const PickleValue& trace);
  void entry(std::size_t index, const PickleValue& entry, Use& use);
  Use atBeginOf(std::size_t index, std::span<const PickleValue> entries);
  StringId placeOf(const PickleValue& frames);
  bool takes(std::size_t entries);  // within the bound for all

  const Pickle& pickle_;
  const ImportOptions& options_;
  Builder& builder_;
  const ProcessRef process_;
  std::map<std::size_t, Use> at_end_;                 // by device
  std::unordered_map<std::size_t, StringId> places_;  // by frames
  std::size_t entries_ = 0;
  bool timed_ = true;
  std::int64_t order_ns_ = 0;
};

MemorySnapshot::Use MemorySnapshot::effectOf(std::string_view action, std::int64_t size) {
  if (action == "alloc") return {size, 0};
  if (action == "free_requested") return {-size, 0};
  if (action == "segment_alloc" || action == "segment_map") return {0, size};
  if (action == "segment_free" || action == "segment_unmap") return {0, -size};
  return {};
}

// A list may be in the pickle once and in the snapshot many times.
bool MemorySnapshot::takes(std::size_t entries) {
  entries_ += entries;
  return entries_ <= pickle_.values();
}

void MemorySnapshot::segments() {
  const auto all = pickle_.items(pickle_.member(pickle_.root(), "segments"));
  builder_.tally().record("segments") += static_cast<std::int64_t>(all.size());
  for (const PickleValue& segment : all) {
    const std::int64_t device = integer(segment, "device");
    if (device < 0 || device >= static_cast<std::int64_t>(kMostDevices)) continue;
    Use& use = at_end_[static_cast<std::size_t>(device)];
    use.allocated += size(segment, "allocated_size");
    use.reserved += size(segment, "total_size");
  }
}

// The segments give what is in use at the end; the entries before a ring's first one are lost.
MemorySnapshot::Use MemorySnapshot::atBeginOf(std::size_t index, std::span<const PickleValue> entries) {
  Use use = at_end_[index];
  for (const PickleValue& entry : entries) {
    const Use effect = effectOf(pickle_.text(pickle_.member(entry, "action")), size(entry, "size"));
    use.allocated -= effect.allocated;
    use.reserved -= effect.reserved;
  }
  if (use.allocated < 0 || use.reserved < 0)
    builder_.tally().note(fmt::format(
        "{}: gpu {}: the entries allocate more than the segments hold: the counters of memory begin at 0",
        builder_.tally().input().path, index));
  return {std::max<std::int64_t>(0, use.allocated), std::max<std::int64_t>(0, use.reserved)};
}

// The innermost function of Python's, else the innermost of all.
StringId MemorySnapshot::placeOf(const PickleValue& frames) {
  const auto all = pickle_.items(frames);
  if (all.empty()) return {};
  const auto [known, fresh] = places_.try_emplace(frames.index);
  if (!fresh) return known->second;
  const PickleValue* chosen = &all.front();
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 256); ++i) {
    if (!pickle_.text(pickle_.member(all[i], "filename")).ends_with(".py")) continue;
    chosen = &all[i];
    break;
  }
  const auto text = [&](const char* member) {
    return cleanJsonString(pickle_.text(pickle_.member(*chosen, member)).substr(0, 1024));
  };
  known->second =
      builder_.names().args(fmt::format("{{\"function\":{},\"file\":{},\"line\":{}}}", text("name"),
                                        text("filename"), integer(*chosen, "line")));
  return known->second;
}

void MemorySnapshot::entry(std::size_t index, const PickleValue& entry, Use& use) {
  const std::string_view action = pickle_.text(pickle_.member(entry, "action"));
  if (action.empty()) return builder_.tally().dropped("entries without an action", "");
  const std::int64_t bytes = size(entry, "size");
  const Use effect = effectOf(action, bytes);
  use.allocated = std::max<std::int64_t>(0, use.allocated + effect.allocated);
  use.reserved = std::max<std::int64_t>(0, use.reserved + effect.reserved);
  const std::int64_t time_us = integer(entry, "time_us");
  Event event;
  event.kind = EventKind::instant;
  // A time beyond the range is kept beyond it, so that it is counted as such.
  constexpr std::int64_t kBeyondUs = kLatestNs / 1000 + 1;
  event.start_ns = timed_ ? std::clamp(time_us, -kBeyondUs, kBeyondUs)* 1000 : order_ns_ += 1000;
  event.name = builder_.names().name(action.substr(0, 256));
  event.value = bytes;
  event.args = placeOf(pickle_.member(entry, "frames"));
  if (!builder_.add(builder_.tracks().lane(process_, fmt::format("gpu {} allocator", index)), event)) return;
  const auto sample = [&](const char* what, std::int64_t value) {
    builder_.sample(
        builder_.tracks().counter(process_, fmt::format("memory {}: gpu {}", what, index), "bytes"),
        event.start_ns, static_cast<double>(value));
  };
  if (effect.allocated != 0) sample("allocated", use.allocated);
  if (effect.reserved != 0) sample("reserved", use.reserved);
}

Status MemorySnapshot::device(std::size_t index, const PickleValue& trace) {
  const auto entries = pickle_.items(trace);
  if (entries.empty()) return {};
  if (!takes(entries.size())) {
    builder_.tally().dropped("entries that are in the file once and in the snapshot more often",
                             fmt::format("gpu {}", index));
    return {};
  }
  builder_.tally().record("entries") += static_cast<std::int64_t>(entries.size());
  Use use = atBeginOf(index, entries);
  std::size_t seen = 0;
  for (const PickleValue& one : entries) {
    if ((++seen & 0xFFF) == 0 && options_.cancel != nullptr &&
        options_.cancel->load(std::memory_order_relaxed))
      return fail(ErrorCode::cancelled, fmt::format("{}: import interrupted", builder_.tally().input().path));
    entry(index, one, use);
  }
  return {};
}

Status MemorySnapshot::run() {
  const auto devices = pickle_.items(pickle_.member(pickle_.root(), "device_traces"));
  if (pickle_.root().type != PickleType::dictionary ||
      pickle_.member(pickle_.root(), "device_traces").type == PickleType::none)
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: is a pickle without the device_traces of a memory snapshot of PyTorch",
                            builder_.tally().input().path));
  segments();
  // Versions before 2.1 write no times.
  for (const PickleValue& trace : devices.first(std::min(devices.size(), kMostDevices))) {
    const auto entries = pickle_.items(trace);
    if (!entries.empty()) timed_ = timed_ && integer(entries.front(), "time_us") > 0;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i < kMostDevices) {
      PITWALL_TRY(device(i, devices[i]));
    } else {
      builder_.tally().dropped("devices beyond 1024", "");
    }
  }
  builder_.tracks().nameProcess(process_, "PyTorch");
  ImportedInput& input = builder_.tally().input();
  input.format = "PyTorch memory snapshot";
  input.clock = timed_ ? "microseconds since 1970" : "none: the entries carry no times";
  if (timed_) builder_.clock().wallClock(0);
  if (!timed_) builder_.meta("import.timeline", "order only");
  builder_.meta(meta::kProducer, "PyTorch memory snapshot");
  if (entries_ == 0)
    builder_.tally().note(fmt::format(
        "{}: the snapshot has no entries: call torch.cuda.memory._record_memory_history() before the work",
        input.path));
  return {};
}

}  // namespace

bool isMemorySnapshot(std::string_view start) {
  const bool pickle = start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  return pickle && (start.find("device_traces") != start.npos || start.find("segments") != start.npos);
}

Status readMemorySnapshot(Window& window, const ImportOptions& options, Builder& builder) {
  auto pickle = Pickle::read(window);
  if (!pickle.has_value()) {
    Error error = pickle.error();
    const std::string& path = builder.tally().input().path;
    if (!error.message.starts_with(path)) error.message = fmt::format("{}: {}", path, error.message);
    return fail(error);
  }
  PITWALL_TRY(MemorySnapshot(*pickle, options, builder).run());
  if (!window.source().damage().empty()) builder.tally().damaged(window.source().damage());
  return {};
}

}  // namespace pitwall::import
