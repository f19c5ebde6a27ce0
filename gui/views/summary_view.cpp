#include "gui/views/summary_view.h"

#include <QEvent>
#include <algorithm>
#include <map>

#include "analyzer/emit.h"
#include "analyzer/units_text.h"
#include "gui/views/html.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kOperatorsShown = 12;

QString cell(const std::string& text) { return "<td align='right'>" + html(text) + "</td>"; }

QString breakdownTable(const Breakdown& breakdown, const QString& bar_color) {
  QString table = "<table cellspacing='0' cellpadding='3'>";
  if (breakdown.iterations > 0)
    table += SummaryView::tr("<tr><th></th><th>Total</th><th>An iteration</th><th>Share</th></tr>");
  for (const TimeShare& share : breakdown.shares) {
    const int width = static_cast<int>(share.share * 200);
    const QString bar =
        width <= 0 ? QString()
                   : QString(
                         "<table cellspacing='0' cellpadding='0'><tr><td bgcolor='%1' width='%2'>&nbsp;</td>"
                         "</tr></table>")
                         .arg(bar_color)
                         .arg(width);
    const auto total = static_cast<double>(share.total_ns);
    const QString each = breakdown.iterations > 0
                             ? cell(showDuration(total / static_cast<double>(breakdown.iterations)))
                             : QString();
    table +=
        QString("<tr><td>%1</td>%2%3%4<td>%5</td></tr>")
            .arg(html(share.category), cell(showDuration(total)), each, cell(showShare(share.share)), bar);
  }
  return table + "</table>";
}

QString operatorTable(const std::vector<OperatorRow>& operators, OperatorOrder order) {
  const bool roofline = std::any_of(operators.begin(), operators.end(),
                                    [](const OperatorRow& row) { return row.roofline_share > 0; });
  // As reports do: what operators within each other take themselves and launch, where a trace has such.
  const bool nested = std::any_of(operators.begin(), operators.end(),
                                  [](const OperatorRow& row) { return row.self_ns != row.total_ns; });
  const bool device = order == OperatorOrder::deviceTime;
  double all = 0;
  for (const OperatorRow& row : operators) all += static_cast<double>(row.orderedBy(order));
  QString table =
      "<table cellspacing='0' cellpadding='3'><tr><th align='left'>Operator</th><th "
      "align='left'>Phase</th><th>Count</th><th>Total</th>" +
      QString(nested ? "<th>Self</th>" : "") + QString(device ? "<th>Device</th>" : "") +
      "<th>p50</th><th>p99</th><th>Share</th>" + QString(roofline ? "<th>Of roofline</th></tr>" : "</tr>");
  for (std::size_t i = 0; i < std::min(operators.size(), kOperatorsShown); ++i) {
    const OperatorRow& row = operators[i];
    table += "<tr><td>" + html(row.title) + "</td><td>" + html(row.phase) + "</td>" +
             cell(showCount(row.count)) + cell(showDuration(static_cast<double>(row.total_ns))) +
             (nested ? cell(showDuration(static_cast<double>(row.self_ns))) : QString()) +
             (device ? cell(showDuration(static_cast<double>(row.device_ns))) : QString()) +
             cell(showDuration(static_cast<double>(row.p50_ns))) +
             cell(showDuration(static_cast<double>(row.p99_ns))) +
             cell(showShare(all > 0 ? static_cast<double>(row.orderedBy(order)) / all : 0)) +
             (roofline ? cell(row.roofline_share > 0 ? showShare(row.roofline_share) : "-") : QString()) +
             "</tr>";
  }
  table += "</table>";
  if (operators.size() > kOperatorsShown)
    table += SummaryView::tr("<p>and %1 more</p>").arg(operators.size() - kOperatorsShown);
  return table;
}

// As the first lines of a report.
QString overviewTable(const Overview& overview) {
  const std::pair<QString, const std::string&> lines[] = {
      {SummaryView::tr("Ended"), overview.ended},    {SummaryView::tr("Start-up"), overview.startup},
      {SummaryView::tr("Time"), overview.time},      {SummaryView::tr("Do first"), overview.first},
      {SummaryView::tr("May bring"), overview.gain}, {SummaryView::tr("Then"), overview.then},
      {SummaryView::tr("Limits"), overview.limits}};
  QString table = "<table cellspacing='0' cellpadding='3'>";
  for (const auto& [label, text] : lines) {
    if (!text.empty()) table += "<tr><td><b>" + label + "</b></td><td>" + html(text) + "</td></tr>";
  }
  return table + "</table>";
}

// Each reason once, with the rules that need it.
QString abstentionList(const std::vector<Abstention>& abstentions) {
  std::map<std::string, QStringList> titles;  // by reason
  for (const Abstention& abstention : abstentions) titles[abstention.reason] += html(abstention.title);
  QString list;
  for (const auto& [reason, of] : titles) list += "<p>" + of.join("; ") + ": " + html(reason) + "</p>";
  return list.isEmpty() ? list : SummaryView::tr("<h3>Needs more data</h3>") + list;
}

}  // namespace

SummaryView::SummaryView(QWidget* parent) : QTextBrowser(parent) {
  setAccessibleName(tr("Summary"));
  setPlaceholderText(tr("What the program did and what to do first is shown here once a trace is analysed."));
}

void SummaryView::setReport(ReportPtr report) {
  report_ = std::move(report);
  if (!report_) return clear();
  const Breakdown& b = report_->breakdown;
  QString page;
  if (!report_->trace_complete)
    page += tr("<p><b>The recording did not finish; the recorded part is shown.</b></p>");
  page += overviewTable(overviewOf(*report_));
  page += tr("<h3>What was recorded</h3>") + "<table cellspacing='0' cellpadding='3'>";
  for (const auto& [name, value] : report_->context)
    page += "<tr><td><b>" + html(name) + "</b></td><td>" + html(value) + "</td></tr>";
  page += "</table>";
  page += tr("<h3>Where the time goes</h3><p>%1, %2 median%3; %4 left out; found by %5</p>")
              .arg(b.iterations == 1 ? tr("1 iteration") : tr("%1 iterations").arg(b.iterations))
              .arg(QString::fromStdString(showDuration(static_cast<double>(b.median_iteration_ns))),
                   b.items_per_second > 0
                       ? ", " + QString::fromStdString(showRate(b.items_per_second)) + " items/s"
                       : "")
              .arg(b.skipped_iterations)
              .arg(html(b.iteration_source));
  page += breakdownTable(b, palette().color(QPalette::Highlight).name());
  if (!report_->operators.empty())
    page += tr("<h3>Operators</h3>") + operatorTable(report_->operators, report_->operator_order);
  for (const auto& note : report_->notes) page += "<p>" + html(note) + "</p>";
  page += abstentionList(report_->abstentions);
  for (const Loss& loss : report_->losses)
    page += tr("<p><b>%1 records are missing</b>: %2</p>").arg(loss.count).arg(html(loss.reason));
  setHtml(page);
}

void SummaryView::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) setReport(report_);
}

}  // namespace pitwall::gui
