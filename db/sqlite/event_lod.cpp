// The table-valued function event_lod(track, t0, t1, bins, depth): a track reduced to the width of a screen.
#include <limits>
#include <vector>

#include "db/sqlite/covered_ranges.h"
#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr std::int64_t kMostBins = 1 << 20;

class LodCursor {
 public:
  explicit LodCursor(TraceData& data) : data_(data) {}

  Status filter(int plan, const char*, std::span<sqlite3_value*> values) {
    constexpr const char* kNames[] = {"event_lod: track", "event_lod: t0", "event_lod: t1", "event_lod: bins",
                                      "event_lod: depth"};
    at_ = 0;
    bins_.clear();
    for (int k = 0; k < 5; ++k) {
      arguments_[k].reset();
      sqlite3_value* value = argumentOf(plan, values, k);
      if (value == nullptr) continue;
      arguments_[k] = PITWALL_TRY(integerArgument(value, kNames[k]));
    }
    if (!arguments_[0].has_value())
      return fail(ErrorCode::invalidInput, "event_lod needs a track: event_lod(track, t0, t1, bins)");
    return compute();
  }

  Status next() {
    ++at_;
    return {};
  }
  bool atEnd() const { return at_ >= bins_.size(); }
  std::int64_t rowId() const { return static_cast<std::int64_t>(at_); }

  Status column(sqlite3_context* context, int index) {
    const EventBin& bin = bins_[at_];
    switch (index) {
      case 0: sqlite3_result_int64(context, bin.bin); break;
      case 1: sqlite3_result_int64(context, bin.begin_ns); break;
      case 2: sqlite3_result_int64(context, bin.events); break;
      case 3: sqlite3_result_int64(context, bin.total_ns); break;
      case 4: sqlite3_result_int64(context, bin.longest_ns); break;
      case 5:
        resultText(context, bin.longest_name
                                ? std::string_view(data_.dimensions().strings[bin.longest_name.value - 1])
                                : std::string_view(""));
        break;
      default:
        if (arguments_[index - 6].has_value()) sqlite3_result_int64(context, *arguments_[index - 6]);
        break;
    }
    return {};
  }

 private:
  Status compute() {
    const std::int64_t track = *arguments_[0];
    if (track < 1 || track > static_cast<std::int64_t>(data_.dimensions().tracks.size())) return {};
    BinRequest request;
    request.track = TrackId{static_cast<std::uint32_t>(track)};
    const TimeRange all = extentOf(data_, request.track.value);
    request.from_ns = arguments_[1].value_or(all.begin_ns);
    request.to_ns = arguments_[2].value_or(all.end_ns);
    const std::int64_t bins = arguments_[3].value_or(1000);
    if (bins < 1 || bins > kMostBins)
      return fail(ErrorCode::invalidInput, "event_lod: bins must be 1 to 1048576");
    request.bins = static_cast<int>(bins);
    if (arguments_[4].has_value()) request.depth = static_cast<int>(*arguments_[4] & 0x7fffffff);
    if (request.from_ns >= request.to_ns) return {};
    EventPyramid* pyramid = PITWALL_TRY(data_.pyramid(request.track.value));
    bins_ = PITWALL_TRY(pyramid->bins(request));
    return {};
  }

  TraceData& data_;
  std::optional<std::int64_t> arguments_[5];  // track, t0, t1, bins, depth
  std::vector<EventBin> bins_;
  std::size_t at_ = 0;
};

struct EventLod {
  static constexpr const char* kSchema =
      "CREATE TABLE x(bin INTEGER, begin_ns INTEGER, count INTEGER, total_ns INTEGER, longest_ns INTEGER,"
      " longest_name TEXT, track INTEGER HIDDEN, t0 INTEGER HIDDEN, t1 INTEGER HIDDEN, bins INTEGER HIDDEN,"
      " depth INTEGER HIDDEN)";
  using Cursor = LodCursor;

  static int bestIndex(TraceData&, sqlite3_index_info& info) {
    info.estimatedCost = 2000;
    info.estimatedRows = 1000;
    return planArguments(info, 6, 5);
  }
};

}  // namespace

const sqlite3_module* eventLodFunction() { return moduleOf<EventLod>(); }

}  // namespace pitwall::store
