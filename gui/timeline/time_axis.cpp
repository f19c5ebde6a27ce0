#include "gui/timeline/time_axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace pitwall::gui {

std::string showMoment(double ns, double resolution_ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  const double size = std::max(std::abs(ns), resolution_ns);
  const Unit* unit =
      std::find_if(std::begin(kUnits), std::end(kUnits) - 1, [&](const Unit& u) { return size >= u.ns; });
  const int digits = static_cast<int>(std::ceil(std::log10(unit->ns / std::max(resolution_ns, 1e-3)) - 1e-9));
  return fmt::format("{:.{}f} {}", ns / unit->ns, std::clamp(digits, 0, 9), unit->name);
}

std::vector<Tick> ticksOf(const View& view, double least_px) {
  std::vector<Tick> ticks;
  if (view.width_px <= 0) return ticks;
  const double least = view.ns_per_px * least_px;
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double candidate : {power, 2 * power, 5 * power}) {
    if (candidate >= least) {
      step = candidate;
      break;
    }
  }
  for (double i = std::ceil(view.start_ns / step); i * step <= view.endNs(); ++i)
    ticks.push_back({view.xOf(i * step), i == 0 ? "0" : showMoment(i * step, step)});
  return ticks;
}

}  // namespace pitwall::gui
