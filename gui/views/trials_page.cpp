#include "gui/views/trials_page.h"

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr int kGainCharacters = 28;

// The predicted interval pale, the measured one dark, the unchanged program as a line.
class GainDelegate final : public QStyledItemDelegate {
 public:
  GainDelegate(const TrialsModel* model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);  // the background
    const Trial& trial = model_->trials().rows[index.data(TrialsModel::kTrialRole).toUInt()];
    const QRectF room = QRectF(option.rect).adjusted(6, 3, -6, -3);
    const double least = model_->leastGain(), span = std::max(1e-9, model_->greatestGain() - least);
    const auto x = [&](double gain) { return room.left() + (gain - least) / span * room.width(); };
    const auto bar = [&](const GainInterval& gain, double height, const QColor& color) {
      const double left = x(gain.low), right = std::max(x(gain.high), left + 2);
      painter->fillRect(QRectF(left, room.center().y() - height / 2, right - left, height), color);
    };
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const QColor ink = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    QColor pale = ink, measured = selected ? ink : QColor(0, 114, 178);
    pale.setAlpha(60);
    painter->save();
    if (trial.predicted) bar(*trial.predicted, room.height(), pale);
    if (trial.measured) {
      bar(*trial.measured, room.height() / 2, measured);
      bar({trial.measured->middle, trial.measured->middle, trial.measured->middle}, room.height(), ink);
    }
    pale.setAlpha(140);
    painter->setPen(QPen(pale, 1, Qt::DashLine));
    painter->drawLine(QPointF(x(1), option.rect.top()), QPointF(x(1), option.rect.bottom()));
    painter->restore();
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QSize least(option.fontMetrics.averageCharWidth() * kGainCharacters, 0);
    return QStyledItemDelegate::sizeHint(option, index).expandedTo(least);
  }

 private:
  const TrialsModel* model_;
};

}  // namespace

TrialsPage::TrialsPage(QWidget* parent)
    : Page(parent),
      model_(new TrialsModel(this)),
      table_(new DataTable),
      state_(new WrappedLabel),
      compare_(new QPushButton(tr("Co&mpare the first and the best trace"))),
      copy_(new QPushButton(tr("Copy the &best settings"))) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Trials"));
  table_->setNamesColumn(TrialsModel::kSettings, 24);
  table_->setTextElideMode(Qt::ElideMiddle);  // values are at the end
  table_->setItemDelegateForColumn(TrialsModel::kGain, new GainDelegate(model_, table_));
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(compare_);
  buttons->addWidget(copy_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addWidget(state_);
  column->addWidget(table_, 1);
  column->addLayout(buttons);
  setFocusProxy(table_);
  connect(table_, &DataTable::remarked, this, &TrialsPage::remarked);
  connect(copy_, &QPushButton::clicked, this, &TrialsPage::copySettings);
  connect(compare_, &QPushButton::clicked, this,
          [this] { emit comparisonWanted(model_->trials().first_trace, model_->trials().best_trace); });
  clear();
}

void TrialsPage::clear() {
  model_->setTrials({});
  compare_->setEnabled(false);
  copy_->setEnabled(false);
  state_->setText(
      tr("No trials. 'pitwall tune -- PROGRAM' runs a program with and without the proposed settings; open "
         "the folder that "
         "it writes, or a trace in it."));
}

bool TrialsPage::showFolder(const QString& folder) {
  const QString file = trialsIn(folder);
  if (file.isEmpty()) return false;
  auto trials = readTrials(file);
  if (!trials.has_value()) {
    clear();
    emit failed(QString::fromStdString(trials.error().message));
    return false;
  }
  model_->setTrials(std::move(trials).value());
  const Trials& shown = model_->trials();
  const QString best = shown.best.isEmpty() ? tr("The program is best as it is")
                                            : tr("Best: <b>%1</b>").arg(shown.best.toHtmlEscaped());
  QString text =
      tr("%1. Metric: %2; gains are times as fast. %n runs in %3.", nullptr, shown.runs)
          .arg(best, shown.metric.toHtmlEscaped(), QString::fromStdString(showDuration(shown.seconds * 1e9)));
  if (!shown.ended.isEmpty()) text += tr(" Ended early: %1.").arg(shown.ended.toHtmlEscaped());
  for (const QString& note : shown.notes) text += "<br>" + note.toHtmlEscaped();
  state_->setText(text);
  compare_->setEnabled(!shown.first_trace.isEmpty() && !shown.best_trace.isEmpty());
  copy_->setEnabled(!shown.best.isEmpty() && !shown.best_env.isEmpty());
  table_->fitColumns();
  if (model_->rowCount() > 0) table_->setCurrentIndex(model_->index(0, 0));
  return true;
}

void TrialsPage::copySettings() {
  QFile file(model_->trials().best_env);
  if (!file.open(QIODevice::ReadOnly)) return emit failed(file.fileName() + ": " + file.errorString());
  QGuiApplication::clipboard()->setText(QString::fromUtf8(file.readAll()));
  emit remarked(tr("The best settings are copied, as lines for a shell."));
}

}  // namespace pitwall::gui
