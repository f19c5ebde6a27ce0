#include "gui/views/compare_page.h"

#include <QApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyzer/analysis.h"
#include "analyzer/emit.h"
#include "analyzer/units_text.h"
#include "gui/models/signed_text.h"
#include "gui/views/data_table.h"
#include "gui/views/wrapped_label.h"
#include "gui/views/wrapped_table.h"

namespace pitwall::gui {
namespace {

DataTable* tableOf(QAbstractItemModel* model, const QString& name, bool sorts) {
  auto* table = new DataTable;
  table->setModel(model);
  table->setAccessibleName(name);
  table->setNamesColumn(0);
  if (sorts) {
    table->setSortingEnabled(true);
    table->horizontalHeader()->setSortIndicator(ChangesModel::kDelta, Qt::DescendingOrder);
  }
  return table;
}

// Where an iteration begins; without iterations the trace's begin.
TimeNs beginOf(const Timeline& timeline, int iteration) {
  if (timeline.iterations.empty()) return timeline.begin_ns;
  const auto last = static_cast<int>(timeline.iterations.size()) - 1;
  return timeline.iterations[static_cast<std::size_t>(std::clamp(iteration, 0, last))].time_ns;
}

}  // namespace

ComparePage::ComparePage(TraceSession* a, QWidget* parent)
    : Page(parent),
      verdict_(new WrappedLabel),
      offset_text_(new QLabel),
      open_(new QPushButton(tr("Open trace &B..."))),
      tables_(new QTabWidget),
      work_(new ChangesModel(this)),
      breakdown_(new ChangesModel(this)),
      settings_(new SettingChangesModel(this)),
      runs_(new RunsModel(this)) {
  side_[0].session = a;
  side_[1].session = new TraceSession(this);
  for (Side& side : side_) {
    side.view = new TimelineView;
    side.title = new QLabel;
    side.iteration = new QSpinBox;
    side.iteration->setEnabled(false);
  }
  side_[0].view->setAccessibleName(tr("Timeline of trace A"));
  side_[1].view->setAccessibleName(tr("Timeline of trace B"));
  pair_ = new TimelinePair(side_[0].view, side_[1].view, this);
  makeLayout();
  connectSide(0);
  connectSide(1);
  connect(open_, &QPushButton::clicked, this, &ComparePage::otherWanted);
  resetComparison();
}

void ComparePage::makeLayout() {
  auto* top = new QHBoxLayout;
  auto* align_a = new QLabel(tr("Align &iteration of A"));
  align_a->setBuddy(side_[0].iteration);
  auto* align_b = new QLabel(tr("&with that of B"));
  align_b->setBuddy(side_[1].iteration);
  side_[0].iteration->setAccessibleName(tr("Iteration of A to align at"));
  side_[1].iteration->setAccessibleName(tr("Iteration of B to align at"));
  for (QWidget* widget : {static_cast<QWidget*>(open_), static_cast<QWidget*>(align_a),
                          static_cast<QWidget*>(side_[0].iteration), static_cast<QWidget*>(align_b),
                          static_cast<QWidget*>(side_[1].iteration)})
    top->addWidget(widget);
  top->addWidget(offset_text_, 1);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addLayout(top);
  column->addWidget(verdict_);
  column->addWidget(pair_->splitter(side_[0].title, side_[1].title, tables_), 1);
}

// When they are first shown or filled: few sessions compare.
void ComparePage::makeTables() {
  if (settings_table_ != nullptr) return;
  tables_->addTab(tableOf(work_, tr("Changes by operator or kernel"), true), tr("Operators and kernels"));
  tables_->addTab(tableOf(breakdown_, tr("Changes by part of an iteration"), false),
                  tr("Where the time goes"));
  settings_table_ = new WrappedTable;
  settings_table_->setModel(settings_);
  settings_table_->setAccessibleName(tr("Settings that differ"));
  tables_->addTab(settings_table_, tr("Settings"));
  tables_->setDocumentMode(true);
}

void ComparePage::showEvent(QShowEvent* event) {
  makeTables();
  Page::showEvent(event);
}

void ComparePage::connectSide(int which) {
  Side& side = side_[which];
  connect(
      side.session, &TraceSession::timelineLoaded, this,
      [this, which](std::shared_ptr<const Timeline> timeline) { setTimeline(which, std::move(timeline)); });
  connect(side.session, &TraceSession::analyzed, this, [this, which](const ReportPtr& report) {
    side_[which].report = report;
    measureSides();
  });
  connect(side.session, &TraceSession::failed, this, [this, which](const QString& what) {
    setTimeline(which, nullptr);
    if (which == 1) emit failed(what);
  });
  connect(side.iteration, &QSpinBox::valueChanged, this, [this, which](int value) {
    // Both advance together; B's own box then changes only B.
    if (which == 0) {
      const QSignalBlocker quiet(side_[1].iteration);
      side_[1].iteration->setValue(value);
    }
    alignNow();
    pair_->showIteration(side_[0].iteration->value());
  });
}

void ComparePage::setFirst(std::shared_ptr<const Timeline> timeline, ReportPtr report) {
  setTimeline(0, std::move(timeline));
  side_[0].report = std::move(report);
  measureSides();
}

void ComparePage::openOther(const QString& path) {
  setTimeline(1, nullptr);
  side_[1].view->setMessage(tr("Opening %1 ...").arg(path));
  side_[1].title->setText(tr("<b>B</b> &nbsp; %1").arg(path.toHtmlEscaped()));
  side_[1].session->open(path);
}

void ComparePage::setTimeline(int which, std::shared_ptr<const Timeline> timeline) {
  Side& side = side_[which];
  side.timeline = std::move(timeline);
  side.report = nullptr;
  resetComparison();
  const QString letter = which == 0 ? QStringLiteral("A") : QStringLiteral("B");
  const QString path = side.timeline ? side.session->path() : QString();
  side.title->setText(tr("<b>%1</b> &nbsp; %2").arg(letter, path.toHtmlEscaped()));
  side.title->setToolTip(path);
  side.view->setTimeline(side.timeline);
  if (!side.timeline)
    side.view->setMessage(which == 0 ? tr("No trace is open.")
                                     : tr("Open a second trace to compare with, or drop two files here."));
  const int iterations = side.timeline ? static_cast<int>(side.timeline->iterations.size()) : 0;
  {
    const QSignalBlocker quiet(side.iteration);
    side.iteration->setEnabled(iterations > 1);
    side.iteration->setRange(0, std::max(0, iterations - 1));
    side.iteration->setValue(std::min(1, std::max(0, iterations - 1)));  // the first is often a warm-up
  }
  if (!side_[0].timeline || !side_[1].timeline) return offset_text_->clear();
  alignNow();
  pair_->showIteration(side_[0].iteration->value());
}

void ComparePage::align(int of_a, int of_b) {
  side_[0].iteration->setValue(of_a);
  side_[1].iteration->setValue(of_b);
}

void ComparePage::alignNow() {
  const auto& [a, b] = side_;
  if (!a.timeline || !b.timeline) return;
  const TimeNs offset =
      beginOf(*b.timeline, b.iteration->value()) - beginOf(*a.timeline, a.iteration->value());
  offset_text_->setText(
      tr("B's clock relative to A's: %1")
          .arg(withSign(static_cast<double>(offset), showDuration(std::fabs(static_cast<double>(offset))))));
  pair_->setOffset(offset);
}

void ComparePage::resetComparison() {
  ++generation_;
  for (Side& side : side_) side.measured.reset();
  comparison_.reset();
  work_->setChanges(tr("Operator or kernel"), {});
  breakdown_->setChanges(tr("Part of an iteration"), {});
  settings_->setChanges({});
  verdict_->setText(side_[1].timeline || !side_[1].session->path().isEmpty()
                        ? tr("Comparing ...")
                        : tr("Changes from trace A, the open one, to trace B."));
}

// On the threads that hold the traces, once both are analysed.
void ComparePage::measureSides() {
  if (!side_[0].report || !side_[1].report) return;
  for (int which = 0; which < 2; ++which) {
    const QPointer<ComparePage> self(this);
    side_[which].session->ask([self, which, generation = generation_, report = side_[which].report,
                               path = side_[which].session->path(),
                               leaving = side_[which].session->leaving()](Trace& trace) {
      AnalyzeOptions options;
      options.cancel = leaving.get();
      // The tables that are measured belong to a connection, and the session's analysis has its own
      // connection.
      auto analyzed = analyzeTrace(trace, options);
      auto measured =
          analyzed.has_value() ? measure(trace, *report) : Result<Measured>(fail(analyzed.error()));
      QMetaObject::invokeMethod(
          qApp,
          [self, which, generation, path, measured = std::move(measured)]() mutable {
            if (!self || self->generation_ != generation) return;
            if (!measured.has_value()) {
              emit self->failed(QString::fromStdString(measured.error().message));
              return;
            }
            measured->path = path.toStdString();
            self->side_[which].measured = std::move(*measured);
            if (self->side_[1 - which].measured) self->compareSides();
          },
          Qt::QueuedConnection);
    });
  }
}

void ComparePage::compareSides() {
  const QPointer<ComparePage> self(this);
  side_[1].session->ask(
      [self, generation = generation_, a = *side_[0].measured, b = *side_[1].measured](Trace&) {
        auto comparison = compare(a, b);
        QMetaObject::invokeMethod(
            qApp,
            [self, generation, comparison = std::move(comparison)]() mutable {
              if (!self || self->generation_ != generation) return;
              self->comparison_ = std::move(comparison);
              self->showComparison();
              emit self->compared();
            },
            Qt::QueuedConnection);
      });
}

void ComparePage::showComparison() {
  const Comparison& c = *comparison_;
  QString text = "<b>" + QString::fromStdString(comparisonSentence(c)).toHtmlEscaped() + "</b>";
  if (c.verdict != Comparability::comparable) {
    text += c.verdict == Comparability::notComparable ? tr("<br>These traces are not comparable: ")
                                                      : tr("<br>Comparable with reservations: ");
    QStringList reasons;
    for (const Comparison::Aspect& aspect : c.aspects) {
      if (aspect.verdict == Comparability::comparable) continue;
      reasons += QString::fromStdString(aspect.name + ": " + aspect.remark).toHtmlEscaped();
    }
    text += reasons.join("; ");
  }
  verdict_->setText(text);
  makeTables();
  work_->setChanges(tr("Operator or kernel"), c.work);
  breakdown_->setChanges(tr("Part of an iteration"), c.breakdown);
  settings_->setChanges(c.settings);
  tables_->setTabText(tables_->indexOf(settings_table_), c.settings.empty()
                                                             ? tr("Settings: the same")
                                                             : tr("Settings (%1)").arg(c.settings.size()));
  for (int i = 0; i < tables_->count(); ++i) {
    if (auto* table = qobject_cast<DataTable*>(tables_->widget(i))) table->fitColumns();
  }
}

}  // namespace pitwall::gui
