// Dumps of NCCL's inspector plugin, one JSON object per line: a collective of a communicator with its size,
// duration and sequence number. Verbose dumps give its begin and end; others only the time of the dump, by
// which it had ended.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "db/import/input/json.h"
#include "db/import/input/line_reader.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

// The members of one line that are read, as text.
using Members = std::map<std::string, std::string_view, std::less<>>;

// "coll_perf.coll_sn" -> its text. False when the line is damaged.
bool flatten(std::string_view object, const std::string& prefix, int depth, Members& out) {
  JsonScanner scan(object);
  if (!scan.take('{')) return false;
  JsonValue key, value;
  for (;;) {
    if (scan.member(key, value) != JsonStatus::ok) return false;
    if (key.type == JsonType::none) return true;
    const std::string name = prefix + unescape(key.text);
    if (value.type == JsonType::object && depth < 3) {
      if (!flatten(value.text, name + ".", depth + 1, out)) return false;
    } else if (value.type != JsonType::array && out.size() < 256) {
      out.insert_or_assign(name, value.text);
    }
  }
}

class Inspector {
 public:
  Inspector(Window& window, Builder& builder) : window_(window), builder_(builder) {}

  void line(std::string_view text) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    ++builder_.tally().record("lines");
    Members members;
    if (!flatten(text.substr(text.find_first_not_of(" \t")), "", 0, members)) {
      last_damaged_ = window_.place();
      builder_.tally().dropped("lines that are not a complete JSON object",
                               fmt::format("{}: {}", last_damaged_, quotedText(text, 120)));
      return;
    }
    last_damaged_.clear();
    const auto find = [&](std::string_view name) {
      const auto found = members.find(name);
      return found == members.end() ? std::string_view() : found->second;
    };
    const auto duration = parseScaled(find("coll_perf.coll_exec_time_us"), 1000);
    if (find("coll_perf.coll").empty() || !duration || *duration < 0) {
      builder_.tally().notUnderstood("lines without a collective and its time",
                                     fmt::format("{}: {}", window_.place(), quotedText(text, 120)));
      return;
    }
    about(find);
    collective(find, *duration);
  }

  void end() {
    ImportedInput& input = builder_.tally().input();
    input.format = "NCCL inspector dump";
    input.version = version_;
    input.clock = "microseconds since 1970";
    builder_.clock().wallClock(0);
    builder_.meta(meta::kProducer, "NCCL inspector " + version_);
    if (by_dump_ > 0) {
      builder_.tally().note(
          fmt::format("{}: {} collectives are placed at the time of their dump, by which they had ended "
                      "(NCCL_INSPECTOR_DUMP_VERBOSE=1 records their own times)",
                      input.path, by_dump_));
    }
    if (!last_damaged_.empty())
      builder_.tally().damaged(fmt::format("the last line, at {}, is cut", last_damaged_));
  }

 private:
  template <class Find>
  void about(const Find& find) {
    if (const auto rank = parseInteger(find("header.rank"));
        rank && !has_rank_ && *rank >= 0 && *rank < 1'000'000) {
      builder_.tracks().rank(static_cast<int>(*rank));
      has_rank_ = true;
      builder_.meta(meta::kHostName, find("metadata.hostname"));
      builder_.meta("nccl.ranks", find("header.n_ranks"));
      builder_.meta("nccl.nodes", find("header.nnodes"));
    }
    if (version_.empty()) {
      version_ = unescape(find("metadata.inspector_output_format_version"));
      version_ = version_.substr(0, 40);
    }
  }

  template <class Find>
  void collective(const Find& find, std::int64_t duration) {
    const ProcessRef process =
        builder_.tracks().process(fmt::format("{}:{}", find("metadata.hostname"), find("metadata.pid")));
    if (const auto pid = parseInteger(find("metadata.pid")))
      builder_.tracks().setPid(process, *pid, unescape(find("metadata.hostname")));
    const std::string name = unescape(find("coll_perf.coll"));
    builder_.tracks().nameProcess(process, fmt::format("nccl on {}", unescape(find("metadata.hostname"))));
    const TrackRef track = builder_.tracks().lane(
        process, fmt::format("NCCL communicator {}", unescape(find("header.id")).substr(0, 64)));
    Event event;
    event.kind = EventKind::communication;
    event.name = builder_.names().name(name);
    event.dur_ns = duration;
    event.value = parseInteger(find("coll_perf.coll_msg_size_bytes")).value_or(0);
    const auto ranks = parseInteger(find("header.n_ranks"));
    event.args = builder_.names().args(
        ranks ? fmt::format("{{\"collective\":{},\"group_size\":{}}}", cleanJsonString(name), *ranks)
              : fmt::format("{{\"collective\":{}}}", cleanJsonString(name)));
    const auto begin = parseScaled(find("coll_perf.event_trace_ts.coll_start_ts"), 1000);
    const auto end = parseScaled(find("coll_perf.event_trace_ts.coll_stop_ts"), 1000);
    const auto dumped = parseScaled(find("metadata.dump_timestamp_us"), 1000);
    std::int64_t& free_from = free_from_[track.index];
    if (begin && *begin > 0) {
      event.start_ns = *begin;
      if (end && *end > *begin) event.dur_ns = *end - *begin;
    } else if (dumped) {
      ++by_dump_;
      event.start_ns = std::max(*dumped - duration, free_from);
    } else {
      builder_.tally().dropped("collectives without any time", fmt::format("{}: {}", window_.place(), name));
      return;
    }
    if (!builder_.add(track, event)) return;
    free_from = std::max(free_from, event.start_ns + event.dur_ns);
    if (const auto bandwidth = parseReal(find("coll_perf.coll_busbw_gbs"))) {
      builder_.sample(builder_.tracks().counter(process, "NCCL bus bandwidth", "bytes/s"),
                      event.start_ns + event.dur_ns, *bandwidth * 1e9);
    }
  }

  Window& window_;
  Builder& builder_;
  std::string version_;
  std::string last_damaged_;
  bool has_rank_ = false;
  std::int64_t by_dump_ = 0;
  std::map<std::size_t, std::int64_t> free_from_;  // by track: end of its last collective
};

}  // namespace

Status readNcclInspector(Window& window, const ImportOptions& options, Builder& builder) {
  Inspector inspector(window, builder);
  return readLines(inspector, window, options, builder);
}

}  // namespace pitwall::import
