#include "gui/views/simulate_page.h"

#include <QCoreApplication>
#include <QFile>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analyzer/units_text.h"
#include "gui/views/clear_button.h"
#include "gui/views/html.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

QString timeOf(TimeNs ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); }
QString partOf(double value) { return QString::fromStdString(showShare(value)); }

QStringList listOf(const QString& changes) { return changes.simplified().split(' ', Qt::SkipEmptyParts); }

// "workers=N" with a number that can be tried.
QString exampleOf(const QString& form) {
  QString example = form.section(' ', 0, 0);
  example.replace("REGEX=F", "conv=0.5").replace("REGEX=roofline", "conv=roofline").replace("=xF", "=x2");
  example.replace("=F", form.startsWith("data_wait") ? "=0" : "=0.5").replace("=N", "=4");
  return example;
}

void removeFile(const QString& path) {
  if (!path.isEmpty()) QFile::remove(path);
}

// How much less time than `before`, in words.
QString lessThan(TimeNs before, TimeNs after) {
  const double part = 1 - static_cast<double>(after) / static_cast<double>(std::max<TimeNs>(1, before));
  return part >= 0 ? SimulatePage::tr("%1 less").arg(partOf(part))
                   : SimulatePage::tr("%1 more").arg(partOf(-part));
}

}  // namespace

struct SimulatePage::Held {
  std::optional<Simulator> simulator;
};

SimulatePage::SimulatePage(TraceSession* session, QWidget* parent)
    : Page(parent),
      session_(session),
      changes_(new QLineEdit),
      predict_(new QPushButton(tr("&Predict"))),
      examples_(new QPushButton(tr("&Add a change"))),
      iteration_(new QSpinBox),
      answer_(new WrappedLabel),
      recorded_(new TimelineView),
      simulated_(new TimelineView),
      pair_(new TimelinePair(recorded_, simulated_, this)),
      parts_(new SimulatedPartsModel(this)),
      table_(new DataTable),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  recorded_->setAccessibleName(tr("Timeline as recorded"));
  simulated_->setAccessibleName(tr("Simulated timeline"));
  makeLayout();
  makeExamples();
  connect(changes_, &QLineEdit::returnPressed, this, &SimulatePage::predict);
  connect(predict_, &QPushButton::clicked, this, &SimulatePage::predict);
  connect(iteration_, &QSpinBox::valueChanged, this, &SimulatePage::align);
  connect(session_, &TraceSession::criticalPathFound, this,
          [this](std::shared_ptr<const CriticalSteps> path) {
            path_ = std::move(path);
            if (!wanted_) recorded_->setCriticalPath(path_);
          });
  setTimeline(nullptr);
}

void SimulatePage::makeLayout() {
  changes_->setPlaceholderText(tr("Changes, such as data_wait=0 or workers=4 op:conv=0.5"));
  changes_->setAccessibleName(tr("Changes to simulate"));
  addClearButton(*changes_);
  iteration_->setAccessibleName(tr("Iteration to align at"));
  answer_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  answer_->setAccessibleName(tr("Prediction"));
  table_->setModel(parts_);
  table_->setAccessibleName(tr("Critical path, recorded and simulated"));
  table_->setNamesColumn(SimulatedPartsModel::kTitle);
  table_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  auto* align_at = new QLabel(tr("Align at &iteration"));
  align_at->setBuddy(iteration_);
  auto* top = new QHBoxLayout;
  top->addWidget(changes_, 1);
  for (QWidget* widget : {static_cast<QWidget*>(examples_), static_cast<QWidget*>(predict_),
                          static_cast<QWidget*>(align_at), static_cast<QWidget*>(iteration_)})
    top->addWidget(widget);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addLayout(top);
  column->addWidget(answer_);
  auto* recorded = new QLabel(tr("<b>Recorded</b>"));
  auto* simulated = new QLabel(tr("<b>Simulated</b>"));
  column->addWidget(pair_->splitter(recorded, simulated, table_), 1);
  setFocusProxy(changes_);
}

void SimulatePage::makeExamples() {
  auto* menu = new QMenu(examples_);
  menu->setToolTipsVisible(true);
  for (const auto& [form, meaning] : simulatedChanges()) {
    const QString example = exampleOf(QString::fromStdString(form));
    QAction* action = menu->addAction(example + "   " + QString::fromStdString(meaning));
    connect(action, &QAction::triggered, this, [this, example] {
      changes_->setText((changes_->text() + " " + example).simplified());
      changes_->setFocus();
    });
  }
  examples_->setMenu(menu);
}

void SimulatePage::setTimeline(std::shared_ptr<const Timeline> timeline) {
  cancel_->store(true);
  timeline_ = std::move(timeline);
  held_ = std::make_shared<Held>();
  path_ = nullptr;
  if (simulation_ != nullptr) simulation_->close();
  recorded_->setTimeline(nullptr);
  recorded_->setMessage(timeline_ ? QString() : tr("No trace is open."));
  showSimulated(nullptr);
  parts_->setPaths({}, nullptr);
  for (QWidget* widget :
       {static_cast<QWidget*>(changes_), static_cast<QWidget*>(predict_), static_cast<QWidget*>(examples_)})
    widget->setEnabled(timeline_ != nullptr);
  answer_->setText(timeline_ ? tr("Replaying the recording ...") : tr("No trace is open."));
  wanted_ = timeline_ != nullptr;
  if (isVisible() && showRecorded()) ask({});
}

void SimulatePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (showRecorded()) ask({});
}

void SimulatePage::predict() {
  if (!timeline_) return;
  showRecorded();
  answer_->setText(tr("Simulating ..."));
  ask(listOf(changes_->text()));
}

// True the first time that it is needed: opening a trace does no work for a page that is not looked at.
bool SimulatePage::showRecorded() {
  if (!std::exchange(wanted_, false)) return false;
  recorded_->setTimeline(timeline_);
  recorded_->setCriticalPath(path_);
  return true;
}

// The session of the simulated trace has threads: made with the first one.
TraceSession& SimulatePage::simulation() {
  if (simulation_ != nullptr) return *simulation_;
  simulation_ = new TraceSession(this);
  connect(simulation_, &TraceSession::criticalPathFound, simulated_, &TimelineView::setCriticalPath);
  connect(simulation_, &TraceSession::timelineLoaded, this, [this](std::shared_ptr<const Timeline> timeline) {
    showSimulated(std::move(timeline));
    emit settled();
  });
  connect(simulation_, &TraceSession::failed, this, [this](const QString& what) {
    simulated_->setMessage(what);
    emit settled();
  });
  return *simulation_;
}

void SimulatePage::ask(const QStringList& changes) {
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  if (folder_.path().empty()) {
    auto folder = TemporaryFolder::create("simulated traces");
    if (!folder.has_value())
      return answer_->setText(QString::fromStdString(folder.error().message).toHtmlEscaped());
    folder_ = std::move(folder).value();
  }
  const std::string output =
      changes.isEmpty() ? "" : folder_.file("simulated" + std::to_string(written_++) + ".pitwall");
  session_->ask(
      [self = QPointer<SimulatePage>(this), held = held_, changes, output, cancel = cancel_](Trace& trace) {
        if (cancel->load()) return;
        auto answer = std::make_shared<Answer>(answerOf(trace, *held, changes, output, *cancel));
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, answer, cancel] {
              if (self && !cancel->load()) return self->show(*answer);
              removeFile(answer->timeline);
            },
            Qt::QueuedConnection);
      });
}

// On the session's thread.
SimulatePage::Answer SimulatePage::answerOf(Trace& trace, Held& held, const QStringList& changes,
                                            const std::string& output, const std::atomic<bool>& cancel) {
  Answer answer;
  const auto failure = [&answer](const Error& error) {
    answer.error = QString::fromStdString(error.message);
    return answer;
  };
  if (!held.simulator) {
    SimulateOptions options;
    options.cancel = &cancel;
    auto opened = Simulator::open(trace, options);
    if (!opened.has_value()) return failure(opened.error());
    held.simulator = std::move(opened).value();
  }
  answer.check = held.simulator->check();
  if (changes.isEmpty() || !answer.check.predictable) return answer;
  std::vector<std::string> texts;
  for (const QString& change : changes) texts.push_back(change.toStdString());
  auto prediction = held.simulator->predict(texts);
  if (!prediction.has_value()) return failure(prediction.error());
  answer.prediction = std::move(prediction).value();
  const auto written = held.simulator->write(trace, texts, output, &cancel);
  if (!written.has_value()) return failure(written.error());
  answer.timeline = QString::fromStdString(output);
  return answer;
}

void SimulatePage::show(const Answer& answer) {
  answer_->setText(sentenceOf(answer));
  if (answer.error.isEmpty())
    parts_->setPaths(answer.check.path, answer.prediction ? &answer.prediction->path : nullptr);
  table_->fitColumns();
  if (answer.timeline.isEmpty()) {
    if (simulation_ != nullptr) simulation_->close();
    showSimulated(nullptr);
  } else {
    simulation().open(answer.timeline);
  }
  removeFile(std::exchange(shown_, answer.timeline));
  emit answered();
  if (answer.timeline.isEmpty()) emit settled();
}

QString SimulatePage::sentenceOf(const Answer& answer) const {
  const auto& check = answer.check;
  if (!answer.error.isEmpty()) return answer.error.toHtmlEscaped().replace('\n', "<br>");
  if (!check.predictable) return tr("<b>This trace cannot be simulated</b>: %1.").arg(html(check.why));
  const auto limitOf = [](const SimulatedPath& path) {
    return tr("%1 (%2 of the critical path)").arg(html(path.limit), partOf(path.limit_share));
  };
  const QString recorded =
      tr("As recorded an iteration takes %1 (median of %n, from %2), limited by %3.", nullptr,
         static_cast<int>(check.iterations))
          .arg(timeOf(check.recorded_ns), html(check.iteration_source), limitOf(check.path));
  if (!answer.prediction) return recorded;
  const Prediction& p = *answer.prediction;
  QString text =
      tr("<b>An iteration takes %1, between %2 and %3: %4 time</b> (between %5 and %6). Limited by %7.<br>")
          .arg(timeOf(p.middle_ns), timeOf(p.low_ns), timeOf(p.high_ns),
               lessThan(check.recorded_ns, p.middle_ns), lessThan(check.recorded_ns, p.high_ns),
               lessThan(check.recorded_ns, p.low_ns), limitOf(p.path)) +
      recorded;
  for (const std::string& note : p.notes) text += "<br>" + html(note);
  if (p.added_ns > 0)
    text += "<br>" + tr("%1 of an iteration are not in the timeline: waits of which nothing is recorded.")
                         .arg(timeOf(p.added_ns));
  return text;
}

void SimulatePage::showSimulated(std::shared_ptr<const Timeline> timeline) {
  simulated_->setTimeline(timeline);
  if (!timeline)
    simulated_->setMessage(timeline_ ? tr("Predict a change to see its timeline here.") : QString());
  const int iterations = timeline ? static_cast<int>(timeline->iterations.size()) : 0;
  {
    const QSignalBlocker quiet(iteration_);
    iteration_->setEnabled(iterations > 1);
    const auto& marks = iterations > 0 ? timeline->iterations : std::vector<IterationMark>{};
    iteration_->setRange(iterations > 0 ? static_cast<int>(marks.front().index) : 0,
                         iterations > 0 ? static_cast<int>(marks.back().index) : 0);
    // The first is there for what still runs when the next one begins.
    if (iterations > 0) iteration_->setValue(static_cast<int>(marks[iterations > 2 ? 1 : 0].index));
  }
  align();
}

// At the iteration of that index, which both have.
void SimulatePage::align() {
  const auto &a = recorded_->timeline(), &b = simulated_->timeline();
  if (!a || !b) return;
  const auto find = [this](const Timeline& timeline) {
    return std::ranges::find(timeline.iterations, iteration_->value(), &IterationMark::index);
  };
  const auto of_a = find(*a), of_b = find(*b);
  if (of_a == a->iterations.end() || of_b == b->iterations.end()) {
    pair_->setOffset(0);
    return recorded_->showAll();
  }
  pair_->setOffset(of_b->time_ns - of_a->time_ns);
  pair_->showIteration(static_cast<int>(of_a - a->iterations.begin()));
}

}  // namespace pitwall::gui
