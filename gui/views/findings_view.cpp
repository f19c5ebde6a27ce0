#include "gui/views/findings_view.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSplitter>
#include <QUrl>
#include <QVBoxLayout>
#include <cstring>

#include "analyzer/emit.h"
#include "gui/views/html.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr int kMostInCell = 56, kMostOfNumber = 10;
constexpr char kEvidenceLink[] = "evidence:";

// Names of kernels can be pages long; the timeline shows them in full. Lines end between their parts, and
// never between a number and its unit.
QString shortened(const std::string& cell) {
  constexpr QChar kMayBreak(0x200b), kMayNotBreak(0x00a0);
  QString text = QString::fromStdString(cell);
  if (text.size() > kMostInCell) text = text.left(kMostInCell) + QChar(0x2026);
  if (text.size() <= kMostOfNumber) text.replace(' ', kMayNotBreak);
  for (qsizetype i = text.size() - 2; i >= 0; --i) {
    if (QStringLiteral("_,;:/.<(").contains(text[i]) && !text[i + 1].isDigit()) text.insert(i + 1, kMayBreak);
  }
  return text.toHtmlEscaped();
}

// "data_wait_ns" as people read it; the cells bring their units.
QString columnTitle(const std::string& column) {
  QString title = html(column);
  if (title.endsWith("_ns")) title.chop(3);
  if (title == "dur") return FindingsView::tr("duration");
  return title.replace('_', ' ');
}

QString evidenceTable(const Finding::Evidence& evidence) {
  if (evidence.rows.empty()) return {};
  QString table = "<table cellspacing='0' cellpadding='3'><tr>";
  for (const auto& column : evidence.columns) table += "<th align='left'>" + columnTitle(column) + "</th>";
  table += "</tr>";
  for (std::size_t r = 0; r < evidence.rows.size(); ++r) {
    const bool is_place = r < evidence.places.size() && evidence.places[r].known();
    table += "<tr>";
    for (std::size_t c = 0; c < evidence.rows[r].size(); ++c) {
      const QString cell = shortened(evidence.rows[r][c]);
      const QString link = QString("<a href='%1%2'>%3</a>").arg(kEvidenceLink).arg(r).arg(cell);
      table += "<td>" + (is_place && c == 0 ? link : cell) + "</td>";
    }
    table += "</tr>";
  }
  table += "</table>";
  const auto shown = static_cast<std::int64_t>(evidence.rows.size());
  if (evidence.total_rows > shown)
    table += FindingsView::tr("<p>and %1 more</p>").arg(evidence.total_rows - shown);
  return table;
}

QString actionText(const Finding& finding) {
  return finding.action.empty() ? QString()
                                : FindingsView::tr("<p><b>Do</b> %1</p>").arg(html(finding.action));
}

QString gainOrCost(const Finding& finding) {
  if (!finding.gain_method.empty()) {
    return FindingsView::tr("<p><b>Gain</b> %1, %2 confidence. %3</p>")
        .arg(gainText(finding.gain_low, finding.gain_high).toHtmlEscaped(),
             QString::fromLatin1(toString(finding.confidence)), html(finding.gain_method));
  }
  return finding.cost.empty() ? QString() : FindingsView::tr("<p><b>Cost</b> %1</p>").arg(html(finding.cost));
}

}  // namespace

FindingsView::FindingsView(QWidget* parent)
    : QWidget(parent),
      findings_(new FindingsModel(this)),
      proposals_(new ProposalsModel(this)),
      list_(new QListView),
      text_(new QTextBrowser),
      settings_(new WrappedTable),
      combined_(new WrappedLabel),
      copy_(new QPushButton(tr("Copy export line"))),
      save_(new QPushButton(tr("Save environment file..."))) {
  list_->setModel(findings_);
  list_->setAccessibleName(tr("Findings"));
  list_->setWordWrap(true);
  text_->setAccessibleName(tr("Finding"));
  text_->setPlaceholderText(
      tr("Findings, their evidence and the settings they propose are shown here once a trace is analysed."));
  text_->setWordWrapMode(QTextOption::WordWrap);  // no word in the middle
  text_->setOpenLinks(false);
  text_->setToolTip(tr("A row's link shows where it is on the timeline (Tab and Return by keyboard)."));
  settings_->setModel(proposals_);
  settings_->setAccessibleName(tr("Recommended settings"));
  combined_->setTextFormat(Qt::PlainText);  // it may hold "<0.1 %"

  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(copy_);
  buttons->addWidget(save_);
  auto* bottom = new QWidget;
  auto* column = new QVBoxLayout(bottom);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(settings_, 1);
  column->addWidget(combined_);
  column->addLayout(buttons);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(list_);
  splitter->addWidget(text_);
  splitter->addWidget(bottom);
  splitter->setStretchFactor(1, 2);
  splitter->setSizes({130, 400, 200});
  splitter->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(splitter);

  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, &FindingsView::showFinding);
  connect(list_, &QListView::activated, this, &FindingsView::showFinding);
  connect(list_, &QListView::clicked, this, &FindingsView::showFinding);
  connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    const Finding* finding = findings_->finding(list_->currentIndex());
    const QString row = link.toString().mid(static_cast<qsizetype>(std::strlen(kEvidenceLink)));
    if (finding != nullptr) showEvidence(*finding, row.toUInt());
  });
  connect(proposals_, &ProposalsModel::checkedChanged, this, &FindingsView::showCombined);
  connect(copy_, &QPushButton::clicked, this, &FindingsView::copyExportLine);
  connect(save_, &QPushButton::clicked, this, &FindingsView::saveEnvironment);
  setReport(nullptr);
}

void FindingsView::setReport(ReportPtr report) {
  report_ = std::move(report);
  findings_->setReport(report_);
  proposals_->setReport(report_);
  text_->clear();
  if (report_ && report_->findings.empty()) {
    text_->setPlainText(tr("No finding: %1 rules found nothing, %2 need more data.")
                            .arg(report_->silent.size())
                            .arg(report_->abstentions.size()));
  }
  // Its text is shown; the timeline does not move until the evidence is requested.
  const QSignalBlocker quiet(this);
  if (findings_->rowCount() > 0) selectFinding(0);
}

void FindingsView::setWaiting(const QString& message) {
  setReport(nullptr);
  text_->setPlainText(message);
}

void FindingsView::selectFinding(int row) { list_->setCurrentIndex(findings_->index(row)); }

void FindingsView::showFinding(const QModelIndex& index) {
  const Finding* finding = findings_->finding(index);
  if (finding == nullptr) return;
  text_->setHtml(tr("<p>%1</p>%2%3%4<p><b>Wrong if</b> %5</p><p><b>Status</b> %6</p>")
                     .arg(html(finding->verdict), actionText(*finding), evidenceTable(finding->evidence),
                          gainOrCost(*finding), html(finding->guard),
                          QString::fromLatin1(toString(finding->status))));
  for (std::size_t row = 0; row < finding->evidence.places.size(); ++row) {
    if (finding->evidence.places[row].known()) return showEvidence(*finding, row);
  }
}

void FindingsView::showEvidence(const Finding& finding, std::size_t row) {
  if (row < finding.evidence.places.size()) emit evidenceSelected(finding.evidence.places[row]);
}

void FindingsView::showCombined() {
  const bool any = proposals_->rowCount() > 0;
  settings_->setVisible(any);
  copy_->setEnabled(any);
  save_->setEnabled(any);
  combined_->setText(any ? tr("Checked settings together: %1.")
                               .arg(gainText(proposals_->combinedLow(), proposals_->combinedHigh()))
                         : tr("No setting is proposed."));
  // Without a table the findings have its room.
  combined_->parentWidget()->setMaximumHeight(any ? QWIDGETSIZE_MAX
                                                  : copy_->sizeHint().height() + 2 * fontMetrics().height());
}

void FindingsView::copyExportLine() {
  if (proposals_->rowCount() == 0) return;
  QModelIndex current = settings_->currentIndex();
  for (int row = 0; !current.isValid() && row < proposals_->rowCount(); ++row) {
    const QModelIndex index = proposals_->index(row, ProposalsModel::kSetting);
    if (index.data(Qt::CheckStateRole) == Qt::Checked) current = index;
  }
  const QString line = proposals_->exportLine(current.isValid() ? current : proposals_->index(0, 0));
  QApplication::clipboard()->setText(line);
  emit remarked(tr("Copied: %1").arg(line));
}

// The kind of file chosen in the dialog determines the format: a shell, Docker, systemd, ...
void FindingsView::saveEnvironment() {
  if (proposals_->rowCount() == 0) return;
  QStringList kinds;
  for (const EnvironmentFormatInfo& info : environmentFormats())
    kinds += QString("%1 (*%2)").arg(QLatin1String(info.name), QLatin1String(info.extension));
  QString kind = kinds.first();
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save environment file"), "pitwall.env", kinds.join(";;"), &kind);
  if (path.isEmpty()) return;
  saveEnvironmentTo(path, environmentFormats()[static_cast<std::size_t>(std::max(
                                                   0LL, static_cast<qlonglong>(kinds.indexOf(kind))))]
                              .format);
}

void FindingsView::saveEnvironmentTo(const QString& path, EnvironmentFormat format) {
  const Status status = writeEnvironmentFile(proposals_->checkedReport(), path.toStdString(), format);
  if (!status.has_value()) {
    emit failed(QString::fromStdString(status.error().message));
    return;
  }
  QString apply;
  for (const EnvironmentFormatInfo& info : environmentFormats()) {
    if (info.format == format) apply = QString::fromLatin1(info.apply).replace("PATH", path);
  }
  emit remarked(tr("Saved %1. Apply: %2").arg(path, apply));
}

}  // namespace pitwall::gui
