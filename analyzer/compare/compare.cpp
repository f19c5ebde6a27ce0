#include "analyzer/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyzer/compare/match_work.h"
#include "analyzer/compare/noise.h"
#include "analyzer/units_text.h"

namespace pitwall {
namespace {

constexpr std::size_t kFewestIterations = 5;  // for an interval
constexpr double kSameWork = 0.8;             // shared names, of all: below it there are reservations
constexpr double kOtherProgram = 0.3;         // below it these are two programs

using Aspect = Comparison::Aspect;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t same = i;
    while (same < names.size() && names[same] == names[i]) ++same;
    text += (text.empty() ? "" : ", ") + (same - i > 1 ? fmt::format("{} x ", same - i) : "") + names[i];
    i = same;
  }
  return text.empty() ? "not told" : text;
}

// "gpu: NVIDIA H100" is a gpu of that name; a name that says nothing is none.
std::pair<std::string, std::string> kindAndName(const std::string& device) {
  const auto colon = device.find(": ");
  if (colon == std::string::npos) return {device, ""};
  const std::string name = device.substr(colon + 2);
  return {device.substr(0, colon), name == "unknown" ? "" : name};
}

std::map<std::string, std::vector<std::string>> namesByKind(const std::vector<std::string>& devices) {
  std::map<std::string, std::vector<std::string>> names;
  for (const std::string& device : devices) {
    const auto [kind, name] = kindAndName(device);
    if (kind != "cpu" || !name.empty()) names[kind].push_back(name);
  }
  for (auto& [kind, list] : names) std::sort(list.begin(), list.end());
  return names;
}

// Hardware that a trace does not tell may be the same or not: a reservation, no difference.
Comparability sameHardware(const Measured& a, const Measured& b) {
  if (a.devices.empty() || b.devices.empty()) return Comparability::withReservations;
  auto a_names = namesByKind(a.devices), b_names = namesByKind(b.devices);
  if (a_names["gpu"].size() != b_names["gpu"].size()) return Comparability::notComparable;
  Comparability verdict = Comparability::comparable;
  for (const char* kind : {"gpu", "cpu"}) {
    const auto &left = a_names[kind], &right = b_names[kind];
    const auto unnamed = [](const auto& names) { return std::count(names.begin(), names.end(), "") > 0; };
    if (left == right && !unnamed(left)) continue;
    if (!left.empty() && !right.empty() && !unnamed(left) && !unnamed(right))
      return Comparability::notComparable;
    verdict = Comparability::withReservations;
  }
  return verdict;
}

Aspect devicesOf(const Measured& a, const Measured& b) {
  Aspect aspect{"devices", joined(a.devices), joined(b.devices), sameHardware(a, b), ""};
  if (aspect.verdict == Comparability::notComparable)
    aspect.remark = "different hardware: a difference in time says nothing about the program";
  if (aspect.verdict == Comparability::withReservations)
    aspect.remark = "not both traces name their devices, so it is not known whether the hardware is the same";
  return aspect;
}

Aspect worldOf(const Measured& a, const Measured& b) {
  Aspect aspect{"world size", showCount(a.world_size), showCount(b.world_size), Comparability::comparable,
                ""};
  if (a.world_size != b.world_size) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = "the work is split over another number of ranks";
  }
  return aspect;
}

// Without items the shapes still tell that the batches differ; then times say nothing.
Aspect batchOf(const Measured& a, const Measured& b, const comparing::Matches& matches, bool& by_item) {
  const auto shown = [](double items) { return items > 0 ? showReal(items) : std::string("not told"); };
  Aspect aspect{"items an iteration", shown(a.items_per_iteration), shown(b.items_per_iteration),
                Comparability::comparable, ""};
  const bool known = a.items_per_iteration > 0 && b.items_per_iteration > 0;
  if (matches.batches_from_shapes && matches.by_batch > 0) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = fmt::format(
        "by the shapes of the operators B's batch is {} times A's, and not both traces tell their items: "
        "mark iterations with their items",
        showReal(matches.batches.b / matches.batches.a));
  } else if (!known) {
    if (a.items_per_iteration != b.items_per_iteration) {
      aspect.verdict = Comparability::withReservations;
      aspect.remark = "one trace does not tell its batch size";
    }
  } else if (std::fabs(a.items_per_iteration / b.items_per_iteration - 1) > 0.01) {
    by_item = true;
    aspect.verdict = Comparability::withReservations;
    aspect.remark = fmt::format("batch {} against {}: items a second are compared, and times of one item",
                                shown(a.items_per_iteration), shown(b.items_per_iteration));
  }
  return aspect;
}

Aspect workOf(const Measured& a, const Measured& b, const comparing::Matches& matches) {
  const std::size_t shared = matches.in_both, all = matches.all.size();
  const double share = all == 0 ? 1 : static_cast<double>(shared) / static_cast<double>(all);
  Aspect aspect{"operators and kernels", fmt::format("{} different", a.work.size()),
                fmt::format("{} different", b.work.size()), Comparability::comparable,
                fmt::format("{} in both", shared)};
  if (matches.by_batch > 0) {
    aspect.remark += matches.by_batch == shared ? ", the same but for the batch in their shapes"
                                                : fmt::format(
                                                      ", {} of them the same but for the batch in their "
                                                      "shapes",
                                                      matches.by_batch);
  }
  const auto alone = [&](const char* side, std::ptrdiff_t count) {
    if (count > 0) aspect.remark += fmt::format("; {} only in {}", count, side);
  };
  alone("A",
        std::count_if(matches.all.begin(), matches.all.end(), [](const auto& m) { return m.b == nullptr; }));
  alone("B",
        std::count_if(matches.all.begin(), matches.all.end(), [](const auto& m) { return m.a == nullptr; }));
  if (share < kSameWork) aspect.verdict = Comparability::withReservations;
  if (share < kOtherProgram) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark += ": these look like different programs, models or shapes";
  }
  return aspect;
}

Aspect iterationsOf(const Measured& a, const Measured& b) {
  Aspect aspect{"steady iterations", showCount(static_cast<std::int64_t>(a.iterations_ns.size())),
                showCount(static_cast<std::int64_t>(b.iterations_ns.size())), Comparability::comparable, ""};
  const std::size_t fewest = std::min(a.iterations_ns.size(), b.iterations_ns.size());
  if (a.iterations_ns.empty() != b.iterations_ns.empty()) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = "an iteration of one cannot be held against the whole of the other; record more of both";
  } else if (fewest < kFewestIterations) {
    aspect.verdict = Comparability::withReservations;
    aspect.remark = fmt::format("{}to tell a change from chance, record at least {} more than the warm-up",
                                fewest == 0 ? "none, so the whole recordings are compared; " : "too few; ",
                                kFewestIterations);
  }
  if (!a.complete || !b.complete) {
    aspect.verdict = Comparability::withReservations;
    aspect.remark += std::string(aspect.remark.empty() ? "" : "; ") + "a recording is incomplete";
  }
  return aspect;
}

void compareBreakdown(const Measured& a, const Measured& b, double a_scale, double b_scale, Comparison& out) {
  for (const TimeShare& share : a.shares) {
    Comparison::Change change;
    change.name = share.category;
    change.a_ns = static_cast<double>(share.total_ns) * a_scale;
    out.breakdown.push_back(change);
  }
  for (const TimeShare& share : b.shares) {
    auto found =
        std::find_if(out.breakdown.begin(), out.breakdown.end(),
                     [&](const Comparison::Change& change) { return change.name == share.category; });
    if (found == out.breakdown.end()) {
      out.breakdown.push_back({share.category});
      found = out.breakdown.end() - 1;
    }
    found->b_ns = static_cast<double>(share.total_ns) * b_scale;
  }
}

void compareWork(const comparing::Matches& matches, double a_scale, double b_scale, Comparison& out) {
  for (const auto& match : matches.all) {
    Comparison::Change change;
    change.name = match.name;
    if (match.a != nullptr) change.a_ns = match.a->total_ns * a_scale, change.a_count = match.a->count;
    if (match.b != nullptr) change.b_ns = match.b->total_ns * b_scale, change.b_count = match.b->count;
    out.work.push_back(std::move(change));
  }
  const auto size = [](const Comparison::Change& change) { return std::fabs(change.b_ns - change.a_ns); };
  std::stable_sort(out.work.begin(), out.work.end(),
                   [&](const auto& left, const auto& right) { return size(left) > size(right); });
}

void compareSettings(const Measured& a, const Measured& b, Comparison& out) {
  std::set<std::string> names;
  for (const auto& [name, value] : a.settings) names.insert(name);
  for (const auto& [name, value] : b.settings) names.insert(name);
  const auto valueOf = [](const Measured& side, const std::string& name) {
    const auto found = side.settings.find(name);
    return found == side.settings.end() ? std::string() : found->second;
  };
  for (const std::string& name : names) {
    const std::string before = valueOf(a, name);
    const std::string after = valueOf(b, name);
    if (before != after) out.settings.push_back({name, before, after});
  }
}

// Two runs never take the same times to the nanosecond.
bool isSameRecording(const Measured& a, const Measured& b) {
  const auto same = [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.count == right.second.count &&
           left.second.total_ns == right.second.total_ns;
  };
  return a.iterations_ns == b.iterations_ns && a.whole_ns == b.whole_ns && a.work.size() == b.work.size() &&
         std::equal(a.work.begin(), a.work.end(), b.work.begin(), same) && a.settings == b.settings;
}

void compareTime(const Measured& a, const Measured& b, Comparison& out) {
  out.a_items = a.items_per_iteration;
  out.b_items = b.items_per_iteration;
  const auto scaled = [&](std::vector<double> values, double items) {
    for (double& value : values) value /= out.by_item ? items : 1;
    return values;
  };
  const std::vector<double> before = scaled(a.iterations_ns, out.a_items);
  const std::vector<double> after = scaled(b.iterations_ns, out.b_items);
  out.a_outliers = a.outliers;
  out.b_outliers = b.outliers;
  out.a_mean_ns = a.mean_with_outliers_ns / (out.by_item ? out.a_items : 1);
  out.b_mean_ns = b.mean_with_outliers_ns / (out.by_item ? out.b_items : 1);
  out.a_iterations = before.size();
  out.b_iterations = after.size();
  out.a_iteration_ns = comparing::medianOf(a.iterations_ns);
  out.b_iteration_ns = comparing::medianOf(b.iterations_ns);
  out.a_ns = out.by_recording ? a.whole_ns : comparing::medianOf(before);
  out.b_ns = out.by_recording ? b.whole_ns : comparing::medianOf(after);
  out.change = out.a_ns > 0 && out.b_ns > 0 ? out.b_ns / out.a_ns - 1 : 0;
  if (out.same_recording || std::min(before.size(), after.size()) < kFewestIterations) return;
  const comparing::Interval interval = comparing::bootstrapChange(before, after);
  out.has_interval = true;
  out.low = interval.low;
  out.high = interval.high;
}

}  // namespace

const char* toString(Comparability comparability) {
  switch (comparability) {
    case Comparability::comparable: return "comparable";
    case Comparability::withReservations: return "comparable with reservations";
    case Comparability::notComparable: return "not comparable";
  }
  return "not comparable";
}

Comparison compare(const Measured& a, const Measured& b) {
  Comparison out;
  out.a_path = a.path;
  out.b_path = b.path;
  const comparing::Matches matches = comparing::matchWork(a, b);
  out.aspects = {devicesOf(a, b), worldOf(a, b), batchOf(a, b, matches, out.by_item), workOf(a, b, matches),
                 iterationsOf(a, b)};
  for (const Aspect& aspect : out.aspects) out.verdict = std::max(out.verdict, aspect.verdict);

  out.by_recording = a.iterations_ns.empty() && b.iterations_ns.empty();
  out.same_recording = isSameRecording(a, b);
  out.device_count = std::max(a.device_count, b.device_count);
  compareTime(a, b, out);
  const bool is_shown = out.by_recording || std::min(out.a_iterations, out.b_iterations) > 0;
  if (is_shown) {
    const double a_scale = 1 / (static_cast<double>(a.steady_iterations) * (out.by_item ? out.a_items : 1));
    const double b_scale = 1 / (static_cast<double>(b.steady_iterations) * (out.by_item ? out.b_items : 1));
    compareBreakdown(a, b, a_scale, b_scale, out);
    compareWork(matches, a_scale, b_scale, out);
  }
  compareSettings(a, b, out);
  return out;
}

bool isRegression(const Comparison& comparison, double share) {
  return comparison.change > share && comparison.has_interval && comparison.low > 0;
}

}  // namespace pitwall
