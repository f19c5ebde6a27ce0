#include "gui/views/start_page.h"

#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "db/import.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

QString formatsText() {
  QStringList names;
  for (const ImportFormat& format : importFormats()) names += QString::fromStdString(format.name);
  return StartPage::tr(
             "Traces of Pitwall (.pitwall) and of other tools, recognised by their content, also compressed "
             "with gzip or zstd: %1.")
      .arg(names.join(", "));
}

QLabel* heading(const QString& text) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setBold(true);
  label->setFont(font);
  return label;
}

}  // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent),
      recent_(new QListWidget),
      open_(new QPushButton(tr("Open a trace..."))),
      compare_(new QPushButton(tr("Compare two..."))),
      clean_(new QPushButton(tr("Remove missing files"))),
      recent_part_(new QWidget) {
  setAccessibleName(tr("Start"));
  setAttribute(Qt::WA_OpaquePaintEvent);  // what is below is not drawn
  recent_->setAccessibleName(tr("Recent traces"));
  recent_->setTextElideMode(Qt::ElideMiddle);
  recent_->setAlternatingRowColors(true);
  open_->setDefault(true);
  auto* title = new QLabel(tr("Open a trace"));
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() * 1.6);
  title->setFont(large);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(open_);
  buttons->addWidget(compare_);
  buttons->addStretch(1);
  auto* recent_column = new QVBoxLayout(recent_part_);
  recent_column->setContentsMargins(0, 0, 0, 0);
  auto* recent_line = new QHBoxLayout;
  recent_line->addWidget(heading(tr("Recent")), 1);
  recent_line->addWidget(clean_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(40, 32, 40, 32);
  column->setSpacing(10);
  column->addWidget(title);
  column->addWidget(
      new WrappedLabel(tr("Drop a file anywhere in this window, two to compare them, or use Ctrl+O.")));
  column->addLayout(buttons);
  recent_column->addLayout(recent_line);
  recent_column->addWidget(recent_, 1);
  column->addWidget(recent_part_, 1);
  column->addWidget(heading(tr("What can be opened")));
  column->addWidget(new WrappedLabel(formatsText()));
  column->addWidget(heading(tr("Record one")));
  auto* command = new QLabel(tr("pitwall record -o my.pitwall -- python3 train.py"));
  command->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(command);
  column->addStretch();
  setFocusProxy(open_);
  parent->installEventFilter(this);
  setGeometry(parent->rect());
  connect(open_, &QPushButton::clicked, this, &StartPage::openWanted);
  connect(compare_, &QPushButton::clicked, this, &StartPage::compareWanted);
  connect(clean_, &QPushButton::clicked, this, &StartPage::cleanWanted);
  connect(recent_, &QListWidget::itemActivated, this,
          [this](const QListWidgetItem* item) { emit fileWanted(item->data(Qt::UserRole).toString()); });
  connect(recent_, &QListWidget::itemClicked, this,
          [this](const QListWidgetItem* item) { emit fileWanted(item->data(Qt::UserRole).toString()); });
}

void StartPage::setRecent(const QStringList& paths) {
  recent_->clear();
  bool missing = false;
  for (const QString& path : paths) {
    const QFileInfo file(path);
    auto* item = new QListWidgetItem(QString("%1   (%2)").arg(file.fileName(), file.path()), recent_);
    item->setData(Qt::UserRole, path);
    item->setToolTip(path);
    if (file.exists()) continue;
    missing = true;
    item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    item->setToolTip(tr("%1 is no longer there").arg(path));
  }
  clean_->setVisible(missing);
  recent_part_->setVisible(!paths.isEmpty());
}

bool StartPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parent() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
  return QWidget::eventFilter(watched, event);
}

// The frame of the place where files can be dropped.
void StartPage::paintEvent(QPaintEvent* event) {
  QWidget::paintEvent(event);
  QPainter painter(this);
  painter.fillRect(rect(), palette().window());
  painter.setPen(QPen(palette().color(QPalette::Mid), 1, Qt::DashLine));
  painter.drawRect(rect().adjusted(12, 12, -13, -13));
}

}  // namespace pitwall::gui
