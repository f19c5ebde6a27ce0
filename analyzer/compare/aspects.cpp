#include "analyzer/compare/aspects.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzer/units_text.h"

namespace pitwall::comparing {
namespace {

constexpr double kSameWork = 0.8;      // shared names, of all: below it there are reservations
constexpr double kOtherProgram = 0.3;  // below it these are two programs
constexpr std::size_t kNamedSettings = 3;

using Aspect = Comparison::Aspect;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t same = i;
    while (same < names.size() && names[same] == names[i]) ++same;
    text += (text.empty() ? "" : ", ") + (same - i > 1 ? fmt::format("{} x ", same - i) : "") + names[i];
    i = same;
  }
  return text.empty() ? "unknown" : text;
}

// "gpu: NVIDIA H100" is a gpu of that name; a generic name is no name.
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

// Hardware that a trace does not name may be the same or not: a reservation, not a difference.
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
    aspect.remark = "not both traces name their devices, so it is unknown whether the hardware is the same";
  if (a.serialised_kernels || b.serialised_kernels) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = "kernels ran one after the other, to be counted in hardware: times mean nothing";
  }
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

// Without items the shapes still show that the batches differ; then times cannot be compared.
Aspect batchOf(const Measured& a, const Measured& b, const Matches& matches, bool& by_item) {
  const auto shown = [](double items) { return items > 0 ? showReal(items) : std::string("unknown"); };
  Aspect aspect{"items an iteration", shown(a.items_per_iteration), shown(b.items_per_iteration),
                Comparability::comparable, ""};
  const bool known = a.items_per_iteration > 0 && b.items_per_iteration > 0;
  if (matches.batches_from_shapes && matches.by_batch > 0) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = fmt::format(
        "by the shapes of the operators B's batch is {} times A's, and not both traces give their items: "
        "mark iterations with their items",
        showReal(matches.batches.b / matches.batches.a));
  } else if (!known) {
    if (a.items_per_iteration != b.items_per_iteration) {
      aspect.verdict = Comparability::withReservations;
      aspect.remark = "one trace does not give its batch size";
    }
  } else if (std::fabs(a.items_per_iteration / b.items_per_iteration - 1) > 0.01) {
    by_item = true;
    aspect.verdict = Comparability::withReservations;
    aspect.remark = fmt::format("batch {} against {}: items a second are compared, and times of one item",
                                shown(a.items_per_iteration), shown(b.items_per_iteration));
  }
  return aspect;
}

Aspect operatorsOf(const Measured& a, const Measured& b, const Matches& matches) {
  const std::size_t shared = matches.in_both, all = matches.all.size();
  const double share = all == 0 ? 1 : static_cast<double>(shared) / static_cast<double>(all);
  Aspect aspect{"operators and kernels", fmt::format("{} different", a.work.size()),
                fmt::format("{} different", b.work.size()), Comparability::comparable,
                fmt::format("{} in both", shared)};
  if (matches.by_batch > 0) {
    aspect.remark += matches.by_batch == shared ? ", the same except for the batch in their shapes"
                                                : fmt::format(
                                                      ", {} of them the same except for the batch in their "
                                                      "shapes",
                                                      matches.by_batch);
  }
  const auto alone = [&](const char* side, std::ptrdiff_t count) {
    if (count > 0) aspect.remark += fmt::format("; {} only in {}", count, side);
  };
  alone("A", std::count_if(matches.all.begin(), matches.all.end(),
                           [](const auto& m) { return m.b_name.empty(); }));
  alone("B", std::count_if(matches.all.begin(), matches.all.end(),
                           [](const auto& m) { return m.a_name.empty(); }));
  if (share < kSameWork) aspect.verdict = Comparability::withReservations;
  if (share < kOtherProgram) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark += ": these look like different programs, models or shapes";
  }
  return aspect;
}

// Iterations of a run: the fewest, and of all runs.
struct Counts {
  std::size_t fewest = SIZE_MAX, all = 0;
};

Counts countsOf(const Side& side) {
  Counts counts;
  for (const Measured* run : side.runs) {
    counts.fewest = std::min(counts.fewest, run->iterations_ns.size());
    counts.all += run->iterations_ns.size();
  }
  return counts;
}

Aspect iterationsOf(const Side& a, const Side& b) {
  const Counts of_a = countsOf(a), of_b = countsOf(b);
  Aspect aspect{"steady iterations", showCount(static_cast<std::int64_t>(of_a.all)),
                showCount(static_cast<std::int64_t>(of_b.all)), Comparability::comparable, ""};
  const std::size_t fewest = std::min(of_a.fewest, of_b.fewest);
  const bool several = std::min(a.runs.size(), b.runs.size()) >= kFewestRuns;
  if (fewest == 0 && of_a.all + of_b.all > 0) {
    aspect.verdict = Comparability::notComparable;
    aspect.remark = "an iteration of one cannot be compared with the whole of the other; record more of both";
  } else if (fewest == 0 && several) {
    aspect.remark = "none, so the whole recordings are compared";
  } else if (fewest < kFewestIterations && !several) {
    aspect.verdict = Comparability::withReservations;
    aspect.remark = fmt::format(
        "{}to distinguish a change from chance, record at least {} more than the warm-up",
        fewest == 0 ? "none, so the whole recordings are compared; " : "too few; ", kFewestIterations);
  }
  if (!a.combined.complete || !b.combined.complete) {
    aspect.verdict = std::max(aspect.verdict, Comparability::withReservations);
    aspect.remark += std::string(aspect.remark.empty() ? "" : "; ") + "a recording is incomplete";
  }
  return aspect;
}

std::string settingsThatDiffer(const Measured& a, const Measured& b) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    const auto& other = (side == &a ? b : a).settings;
    for (const auto& [name, value] : side->settings) {
      const auto found = other.find(name);
      if (found == other.end() || found->second != value) names.insert(name);
    }
  }
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (++named > kNamedSettings) return text + fmt::format(" and {} more", names.size() - kNamedSettings);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// Runs of one side must be runs of one program with one configuration: their spread is treated as chance.
void checkRunsOf(const char* name, const Side& side, Aspect& aspect) {
  const auto add = [&](Comparability verdict, std::size_t run, const std::string& what) {
    aspect.verdict = std::max(aspect.verdict, verdict);
    aspect.remark += fmt::format("{}{}{} and {}{} differ in {}", aspect.remark.empty() ? "" : "; ", name, 1,
                                 name, run + 1, what);
  };
  const Measured& first = *side.runs.front();
  for (std::size_t i = 1; i < side.runs.size(); ++i) {
    const Measured& other = *side.runs[i];
    const Matches matches = matchWork(first, other);
    bool other_batch = false;
    for (const Aspect& found :
         {devicesOf(first, other), worldOf(first, other), batchOf(first, other, matches, other_batch),
          operatorsOf(first, other, matches)}) {
      // Devices that no run names are the reservation of "devices", not a difference.
      const bool is_unnamed = found.name == "devices" && first.devices == other.devices;
      if (found.verdict != Comparability::comparable && !is_unnamed)
        add(other_batch ? Comparability::notComparable : found.verdict, i, found.name);
    }
    if (const std::string settings = settingsThatDiffer(first, other); !settings.empty())
      add(Comparability::withReservations, i, settings);
  }
}

// Machines drift. Alternating runs share the drift; one side after the other does not.
bool oneAfterTheOther(const Side& a, const Side& b) {
  std::vector<std::int64_t> of_a, of_b;
  for (const Measured* run : a.runs) of_a.push_back(run->start_unix_ns);
  for (const Measured* run : b.runs) of_b.push_back(run->start_unix_ns);
  const auto [a_first, a_last] = std::minmax_element(of_a.begin(), of_a.end());
  const auto [b_first, b_last] = std::minmax_element(of_b.begin(), of_b.end());
  if (*a_first <= 0 || *b_first <= 0) return false;  // unknown
  return *a_last < *b_first || *b_last < *a_first;
}

Aspect runsOf(const Side& a, const Side& b) {
  Aspect aspect{"runs", showCount(static_cast<std::int64_t>(a.runs.size())),
                showCount(static_cast<std::int64_t>(b.runs.size())), Comparability::comparable, ""};
  checkRunsOf("A", a, aspect);
  checkRunsOf("B", b, aspect);
  if (std::min(a.runs.size(), b.runs.size()) > 1 && oneAfterTheOther(a, b)) {
    aspect.verdict = std::max(aspect.verdict, Comparability::withReservations);
    aspect.remark +=
        std::string(aspect.remark.empty() ? "" : "; ") +
        "all runs of one side were made before those of the other, so that a change of the machine "
        "in between would look like a change of the program: record alternating runs (A, B, B, A, ...)";
  }
  return aspect;
}

}  // namespace

std::vector<Comparison::Aspect> aspectsOf(const Side& a, const Side& b, const Matches& matches,
                                          bool& by_item) {
  return {devicesOf(a.combined, b.combined),
          worldOf(a.combined, b.combined),
          batchOf(a.combined, b.combined, matches, by_item),
          operatorsOf(a.combined, b.combined, matches),
          iterationsOf(a, b),
          runsOf(a, b)};
}

}  // namespace pitwall::comparing
