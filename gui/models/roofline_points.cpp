#include "gui/models/roofline_points.h"

#include <QCoreApplication>
#include <algorithm>

#include "analyzer/units_text.h"

namespace pitwall::gui {

std::vector<RooflinePoint> rooflinePoints(const Report& report) {
  std::vector<RooflinePoint> points;
  for (const OperatorRow& row : report.operators) {
    if (row.flop_per_second <= 0 || row.bytes_per_second <= 0) continue;
    RooflinePoint point;
    point.title = QString::fromStdString(row.title);
    if (!row.phase.empty() && row.phase != "none" && row.title.find(row.phase) == std::string::npos)
      point.title += QString::fromStdString(" (" + row.phase + ")");
    point.name = row.name;
    point.layer = row.layer;
    point.flop_per_byte = row.flop_per_second / row.bytes_per_second;
    point.flop_per_second = row.flop_per_second;
    point.on_device = row.device_ns > 0;
    point.time_ns = point.on_device ? row.device_ns : row.total_ns;
    point.share = row.share;
    points.push_back(std::move(point));
  }
  std::ranges::stable_sort(points, std::greater(), &RooflinePoint::time_ns);
  return points;
}

double allowedRate(const MachineRoofline& machine, double flop_per_byte) {
  const double by_memory = machine.bytes_per_second * flop_per_byte;
  if (machine.flop_per_second <= 0) return by_memory;
  return by_memory > 0 ? std::min(machine.flop_per_second, by_memory) : machine.flop_per_second;
}

QString inWords(const RooflinePoint& point, const MachineRoofline& machine) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("RooflinePoint", text); };
  const auto words = [](const std::string& text) { return QString::fromStdString(text); };
  QString text = tr("%1: %2, %3 FLOP/byte")
                     .arg(point.title, words(showScaled(point.flop_per_second, "FLOP/s")),
                          words(showReal(point.flop_per_byte)));
  const double allowed = point.on_device ? 0 : allowedRate(machine, point.flop_per_byte);
  if (allowed > 0) {
    const bool by_memory = machine.flop_per_second <= 0 || allowed < machine.flop_per_second;
    text += (by_memory ? tr(", %1 of what memory allows") : tr(", %1 of what the processors allow"))
                .arg(words(showShare(point.flop_per_second / allowed)));
  }
  return text + tr("; %1 in the analysed part").arg(words(showDuration(static_cast<double>(point.time_ns))));
}

}  // namespace pitwall::gui
