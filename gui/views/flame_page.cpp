#include "gui/views/flame_page.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QPointer>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "analyzer/units_text.h"
#include "gui/views/clear_button.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {

FlamePage::FlamePage(QWidget* parent)
    : Page(parent),
      source_(new QComboBox),
      canvas_(new FlameCanvas),
      grouping_(new QComboBox),
      search_(new QLineEdit),
      title_(new QLabel),
      facts_(new WrappedLabel),
      out_(new QPushButton(tr("&Zoom out"))),
      show_(new QPushButton(tr("Find on &timeline"))) {
  source_->addItem(tr("Events"));
  source_->addItem(tr("Sampled stacks"));
  source_->setAccessibleName(tr("What the flame graph shows"));
  grouping_->addItem(tr("Rows separate"));
  grouping_->addItem(tr("All rows merged"));
  grouping_->setAccessibleName(tr("Merged rows"));
  search_->setPlaceholderText(tr("Highlight names"));
  search_->setAccessibleName(tr("Highlight names in the flame graph"));
  addClearButton(*search_);
  search_->setMinimumWidth(fontMetrics().averageCharWidth() * 18);
  facts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  facts_->setMinimumHeight(2 * fontMetrics().lineSpacing() + 4);
  facts_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  auto* top = new QHBoxLayout;
  top->addWidget(title_, 1);
  top->addWidget(source_);
  top->addWidget(grouping_);
  top->addWidget(search_);
  top->addWidget(out_);
  top->addWidget(show_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(top);
  layout->addWidget(canvas_, 1);
  layout->addWidget(facts_);
  setFocusProxy(canvas_);
  connect(source_, &QComboBox::currentIndexChanged, this, [this] {
    stale_ = true;
    if (isVisible()) compute();
  });
  connect(grouping_, &QComboBox::currentIndexChanged, this, &FlamePage::compute);
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    canvas_->setSearch(text);
    showTitle();
  });
  connect(canvas_, &FlameCanvas::hovered, this, &FlamePage::showFacts);
  connect(canvas_, &FlameCanvas::selectionChanged, this, [this] { showFacts(-1); });
  connect(out_, &QPushButton::clicked, canvas_, &FlameCanvas::zoomOut);
  connect(show_, &QPushButton::clicked, this,
          [this] { emit nameActivated(canvas_->tree()->nodes[canvas_->selected()].name); });
  setTimeline(nullptr);
}

void FlamePage::setTimeline(std::shared_ptr<const Timeline> timeline) {
  background_.cancel();
  timeline_ = std::move(timeline);
  tracks_.clear();
  range_.reset();
  stale_ = true;
  stacks_.reset();
  source_->hide();
  {
    const QSignalBlocker silent(source_);
    source_->setCurrentIndex(0);
  }
  canvas_->setTree(nullptr, nullptr);
  canvas_->setMessage(tr("No trace is open."));
  if (timeline_) {
    for (std::size_t track = 0; track < timeline_->tracks.size(); ++track) tracks_.push_back(track);
    askForStacks();
    if (isVisible()) compute();
  }
  showTitle();
}

void FlamePage::setRange(std::vector<std::size_t> tracks, std::optional<std::pair<TimeNs, TimeNs>> range) {
  if (!timeline_ || (range == range_ && tracks == tracks_)) return;
  tracks_ = std::move(tracks);
  range_ = range;
  stale_ = true;
  if (isVisible()) compute();
}

void FlamePage::showEvent(QShowEvent* event) {
  if (stale_) compute();
  QWidget::showEvent(event);
}

// Only traces with stacks take more than the question.
void FlamePage::askForStacks() {
  if (session_ == nullptr) return;
  session_->ask([self = QPointer<FlamePage>(this), timeline = timeline_](Trace& trace) {
    if (trace.stacks().empty()) return;
    auto stacks = std::make_shared<Result<std::shared_ptr<const SampledStacks>>>(readSampledStacks(trace));
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, timeline, stacks] {
          if (self && self->timeline_ == timeline) self->setStacks(std::move(*stacks));
        },
        Qt::QueuedConnection);
  });
}

void FlamePage::setStacks(Result<std::shared_ptr<const SampledStacks>> stacks) {
  source_->show();
  if (!stacks.has_value()) {
    source_->setEnabled(false);
    source_->setToolTip(QString::fromStdString(stacks.error().message));
    return;
  }
  stacks_ = *stacks;
  source_->setEnabled(true);
  source_->setToolTip({});
  if (timeline_->events == 0) source_->setCurrentIndex(1);  // there is nothing else to see
}

void FlamePage::compute() {
  if (!timeline_) return;
  stale_ = false;
  canvas_->setMessage(tr("Merging call paths ..."));
  const TimeNs from = range_ ? range_->first : timeline_->begin_ns;
  const TimeNs to = range_ ? range_->second : timeline_->end_ns;
  const auto grouping = grouping_->currentIndex() == 0 ? FlameGrouping::byTrack : FlameGrouping::merged;
  const auto stacks = source_->currentIndex() == 1 ? stacks_ : nullptr;
  background_.ask(
      [timeline = timeline_, tracks = tracks_, stacks, from, to, grouping](const std::atomic<bool>& cancel) {
        return std::make_shared<const FlameTree>(
            stacks ? stackFlameTree(*stacks, *timeline, tracks, from, to, grouping, &cancel)
                   : flameTree(*timeline, tracks, from, to, grouping, &cancel));
      },
      [this](std::shared_ptr<const FlameTree> tree) { showTree(std::move(tree)); });
  showTitle();
}

void FlamePage::showTree(std::shared_ptr<const FlameTree> tree) {
  canvas_->setMessage(tree->of_stacks ? tr("No stack of the rows shown was sampled in this range.")
                                      : tr("No event takes any time in this range."));
  canvas_->setTree(timeline_, std::move(tree));
  canvas_->setSearch(search_->text());
  showTitle();
  emit computed();
}

void FlamePage::showTitle() {
  if (!timeline_) return title_->clear();
  const TimeNs from = range_ ? range_->first : timeline_->begin_ns;
  const TimeNs to = range_ ? range_->second : timeline_->end_ns;
  const QString span = QString::fromStdString(showDuration(static_cast<double>(to - from)));
  QString text = range_ ? tr("Selected range, %1").arg(span) : tr("Whole trace, %1").arg(span);
  if (!search_->text().isEmpty())
    text += tr("; %n box(es) match", nullptr, static_cast<int>(canvas_->matches()));
  title_->setText(text);
}

void FlamePage::showFacts(int hovered) {
  const FlameTree* tree = canvas_->tree();
  const bool any = tree != nullptr && tree->nodes[0].total_ns > 0;
  out_->setEnabled(any && canvas_->zoomed() != 0);
  show_->setEnabled(any && !tree->of_stacks && canvas_->selected() != 0 &&
                    tree->nodes[canvas_->selected()].name != FlameNode::kTrackNode);
  if (!any) return facts_->clear();
  const auto node = hovered >= 0 ? static_cast<std::uint32_t>(hovered) : canvas_->selected();
  const FlameFacts facts = factsOf(*tree, *timeline_, node);
  const QString path = QString::fromStdString(node == 0 ? facts.name : facts.path);
  facts_->setText((path.size() > 400 ? QString("... ") + path.right(400) : path) + "\n" +
                  QString::fromStdString(facts.numbers));
}

}  // namespace pitwall::gui
