#include "gui/views/kernels_page.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QPointer>
#include <QVBoxLayout>

#include "analyzer/units_text.h"
#include "gui/views/clear_button.h"

namespace pitwall::gui {

KernelsPage::KernelsPage(TraceSession* session, QWidget* parent)
    : Page(parent),
      session_(session),
      model_(new KernelsModel(this)),
      table_(new DataTable),
      words_(new QLineEdit),
      state_(new QLabel),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Kernels"));
  table_->setNamesColumn(KernelsModel::kName, 36);
  table_->horizontalHeader()->setSortIndicator(KernelsModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->setToolTip(tr("Return or a double click shows the longest execution on the timeline."));
  words_->setPlaceholderText(tr("Filter kernels by a part of their name"));
  words_->setAccessibleName(tr("Filter kernels"));
  addClearButton(*words_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addWidget(words_);
  column->addWidget(state_);
  column->addWidget(table_, 1);
  setFocusProxy(table_);
  connect(words_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setFilter(text);
    showState();
  });
  connect(table_, &DataTable::remarked, this, &KernelsPage::remarked);
  connect(table_, &DataTable::rowActivated, this, [this](int row) {
    if (const auto& longest = model_->group(row).longest) emit eventActivated(*longest);
  });
  setTimeline(nullptr);
}

void KernelsPage::setTimeline(std::shared_ptr<const Timeline> timeline) {
  cancel_->store(true);
  timeline_ = std::move(timeline);
  model_->setGroups({});
  wanted_ = timeline_ != nullptr;
  state_->setText(timeline_ ? tr("Reading ...") : tr("No trace is open."));
  if (isVisible()) readNow();
}

void KernelsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  readNow();
}

void KernelsPage::readNow() {
  if (!std::exchange(wanted_, false)) return;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  session_->ask([self = QPointer<KernelsPage>(this), timeline = timeline_, cancel = cancel_](Trace& trace) {
    if (cancel->load()) return;
    auto groups = std::make_shared<Result<std::vector<KernelGroup>>>(kernelGroups(trace, *timeline, *cancel));
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, groups, cancel] {
          if (self && !cancel->load()) self->show(std::move(*groups));
        },
        Qt::QueuedConnection);
  });
}

void KernelsPage::show(Result<std::vector<KernelGroup>> groups) {
  if (!groups.has_value()) {
    state_->setText(tr("Error: %1").arg(QString::fromStdString(groups.error().message)));
    return;
  }
  model_->setGroups(std::move(*groups));
  table_->fitColumns();
  if (model_->rowCount() > 0) table_->setCurrentIndex(model_->index(0, 0));
  showState();
  emit read();
}

void KernelsPage::showState() {
  if (!timeline_) return;
  if (model_->countAll() == 0)
    return state_->setText(
        tr("This trace has no kernels: it was recorded without a device, or without the work of devices."));
  state_->setText(tr("%1 of %2 kernels, by name, grid and block; occupancy is computed from the launch, "
                     "achieved is measured.")
                      .arg(model_->rowCount())
                      .arg(model_->countAll()));
}

}  // namespace pitwall::gui
