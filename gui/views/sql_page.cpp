#include "gui/views/sql_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QSettings>
#include <QSplitter>
#include <QVBoxLayout>

#include "analyzer/analysis.h"
#include "analyzer/units_text.h"
#include "db/schema_docs.h"
#include "gui/views/html.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr int kHistory = 100;
constexpr int kWidestColumn = 360;

// A virtual table lists its columns in its name, "event(id, track, ...)"; a function its results behind an
// arrow, "event_busy(track, t0, t1, kind) -> busy_ns".
QString shortName(const std::string& whole) {
  const QString name = QString::fromStdString(whole);
  return name.contains("->") ? name.section("->", 0, 0).trimmed() : name.section('(', 0, 0).trimmed();
}

QStringList columnsOf(const std::string& whole) {
  const QString name = QString::fromStdString(whole);
  QString list = name.contains("->") ? name.section("->", 1) : name.section('(', 1);
  if (list.endsWith(')')) list.chop(1);
  QStringList columns;
  for (const QString& column : list.split(',', Qt::SkipEmptyParts)) columns += column.trimmed();
  return columns;
}

}  // namespace

SqlPage::SqlPage(QWidget* parent)
    : Page(parent),
      editor_(new SqlEditor),
      schema_(new QTreeWidget),
      table_(new DataTable),
      model_(new SqlModel(this)),
      past_(new QComboBox),
      state_(new WrappedLabel),
      run_(new QPushButton(tr("R&un"))),
      cancel_(new QPushButton(tr("Sto&p"))) {
  editor_->setPlaceholderText(
      tr("SELECT name, count(*) AS events, sum(dur_ns) AS total_ns\nFROM event GROUP BY name ORDER BY 3 DESC "
         "LIMIT 20"));
  editor_->setAccessibleName(tr("SQL"));
  editor_->setTabChangesFocus(true);
  editor_->installEventFilter(this);
  table_->setModel(model_);
  table_->setAccessibleName(tr("Answer"));
  table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  table_->setSortingEnabled(true);
  past_->setAccessibleName(tr("History"));
  past_->setToolTip(tr("Earlier queries (Alt+Up, Alt+Down in the text)"));
  past_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  past_->setMinimumContentsLength(12);
  run_->setToolTip(tr("Ctrl+Return"));
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  makeLayout();
  history_ = QSettings().value("sql_history").toStringList();
  past_->addItems(history_);
  past_->setCurrentIndex(-1);
  past_->setPlaceholderText(tr("History"));
  connect(run_, &QPushButton::clicked, this, &SqlPage::run);
  connect(cancel_, &QPushButton::clicked, this, &SqlPage::cancel);
  connect(past_, &QComboBox::activated, this, &SqlPage::showHistory);
  connect(table_, &DataTable::remarked, this, &SqlPage::remarked);
  connect(table_, &DataTable::rowActivated, this, &SqlPage::openRow);
  table_->setToolTip(tr(
      "A double click on a row with an event's id, or with start_ns and dur_ns, shows it on the timeline."));
  setTrace({});
}

void SqlPage::makeLayout() {
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(run_);
  buttons->addWidget(cancel_);
  buttons->addWidget(past_, 1);
  auto* copy = new QPushButton(tr("&Copy"));
  copy->setToolTip(tr("Selected rows, or all, as text with tabs (Ctrl+C)"));
  connect(copy, &QPushButton::clicked, table_, &DataTable::copy);
  buttons->addWidget(copy);
  auto* top = new QWidget;
  auto* top_layout = new QVBoxLayout(top);
  top_layout->setContentsMargins(0, 0, 0, 0);
  top_layout->addWidget(editor_, 1);
  top_layout->addLayout(buttons);
  auto* bottom = new QWidget;
  auto* bottom_layout = new QVBoxLayout(bottom);
  bottom_layout->setContentsMargins(0, 0, 0, 0);
  bottom_layout->addWidget(state_);
  bottom_layout->addWidget(table_, 1);
  auto* work = new QSplitter(Qt::Vertical);
  work->addWidget(top);
  work->addWidget(bottom);
  work->setStretchFactor(0, 1);
  work->setStretchFactor(1, 3);
  auto* all = new QSplitter(Qt::Horizontal);
  all->addWidget(schema_);
  all->addWidget(work);
  all->setStretchFactor(0, 0);
  all->setStretchFactor(1, 1);
  all->setSizes({fontMetrics().averageCharWidth() * 38, 800});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(all);
  setFocusProxy(editor_);
}

void SqlPage::showEvent(QShowEvent* event) {
  if (schema_->topLevelItemCount() == 0)
    fillSchema();  // not before: it would delay the program's first window
  QWidget::showEvent(event);
}

// Tables and functions with their meaning; a double click or Return writes the name.
void SqlPage::fillSchema() {
  schema_->setColumnCount(1);
  schema_->setHeaderLabel(tr("Tables and functions"));
  schema_->setAccessibleName(tr("Tables and functions"));
  QStringList words;
  const std::vector<TableDoc> docs = tableDocs(), analyses = analysisTableDocs();
  for (const int part : {0, 1, 2}) {
    const bool is_virtual = part == 0;
    for (const TableDoc& table : part == 1 ? analyses : docs) {
      if (table.is_chunk || (part != 1 && table.is_virtual != is_virtual)) continue;
      words += shortName(table.name).section('(', 0, 0);
      auto* item = new QTreeWidgetItem(schema_, {shortName(table.name)});
      item->setToolTip(0, "<p><b>" + html(table.name) + "</b></p><p>" + html(table.text) + "</p>");
      if (is_virtual) {
        for (const QString& column : columnsOf(table.name)) {
          new QTreeWidgetItem(item, {column});
          words += column;
        }
      }
      for (const ColumnDoc& column : table.columns) {
        auto* line = new QTreeWidgetItem(item, {QString::fromStdString(column.name)});
        words += line->text(0);
        line->setToolTip(0, "<p>" + html(column.type + ": " + column.text) + "</p>");
      }
    }
  }
  editor_->setWords(words);
  connect(schema_, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
    editor_->insertPlainText(item->text(0).section('(', 0, 0) + " ");
    editor_->setFocus();
  });
}

void SqlPage::setTrace(const QString& path) {
  background_.cancel();
  source_ = path.isEmpty() ? nullptr : std::make_shared<SqlSource>(path.toStdString());
  model_->setAnswer(nullptr);
  setBusy(false);
  run_->setEnabled(source_ != nullptr);
  state_->setText(source_ ? tr("Write a SELECT and run it with Ctrl+Return. The trace is only read.")
                          : tr("No trace is open."));
}

void SqlPage::setBusy(bool busy) {
  run_->setEnabled(!busy);
  cancel_->setEnabled(busy);
}

void SqlPage::run() {
  const QString sql = query().trimmed();
  if (!source_) return;
  if (sql.isEmpty()) return state_->setText(tr("There is nothing to run: write a SELECT."));
  remember(sql);
  asked_ = sql;
  setBusy(true);
  state_->setText(tr("Running ..."));
  background_.ask(
      [source = source_, text = sql.toStdString()](const std::atomic<bool>& cancel) {
        return std::make_shared<const SqlAnswer>(source->run(text, cancel));
      },
      [this](std::shared_ptr<const SqlAnswer> answer) { show(std::move(answer)); });
}

void SqlPage::cancel() {
  if (!background_.isBusy()) return;
  background_.cancel();
  setBusy(false);
  state_->setText(tr("Stopped."));
  emit answered();
}

void SqlPage::show(std::shared_ptr<const SqlAnswer> answer) {
  setBusy(false);
  if (!answer->error.empty()) {
    model_->setAnswer(nullptr);
    state_->setText(tr("Error: %1").arg(QString::fromStdString(answer->error).left(4000)));
  } else {
    const QString time = QString::fromStdString(showDuration(answer->seconds * 1e9));
    const auto rows = answer->rows.size();
    state_->setText(
        answer->cut
            ? tr("The first %1 rows, in %2; there are more: add a LIMIT or a WHERE").arg(rows).arg(time)
            : tr("%1 rows in %2").arg(rows).arg(time));
    table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    model_->setAnswer(std::move(answer));
    // Of the rows in sight alone.
    table_->horizontalHeader()->setResizeContentsPrecision(100);
    table_->resizeColumnsToContents();
    for (int column = 0; column < model_->columnCount(); ++column)
      table_->setColumnWidth(column, std::min(table_->columnWidth(column) + 8, kWidestColumn));
  }
  emit answered();
}

std::optional<qint64> SqlPage::numberIn(int row, const QString& column) const {
  for (int c = 0; c < model_->columnCount(); ++c) {
    if (model_->headerData(c, Qt::Horizontal, Qt::DisplayRole).toString() != column) continue;
    bool number = false;
    const qint64 value = model_->index(row, c).data(Qt::UserRole).toLongLong(&number);
    return number ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

// "id" is an event's where the query reads events.
void SqlPage::openRow(int row) {
  static const QRegularExpression kReadsEvents("\\bevent\\b", QRegularExpression::CaseInsensitiveOption);
  auto id = numberIn(row, "event_id");
  if (!id && asked_.contains(kReadsEvents)) id = numberIn(row, "id");
  const auto start = numberIn(row, "start_ns"), dur = numberIn(row, "dur_ns");
  if (id) {
    emit eventWanted(*id);
  } else if (start) {
    emit timesWanted(*start, *start + dur.value_or(0));
  } else {
    emit remarked(tr("The row names no place: a column id of event, or start_ns and dur_ns, does."));
  }
}

// --- history --------------------------------------------------------------------------------------------

void SqlPage::remember(const QString& sql) {
  history_.removeAll(sql);
  history_.prepend(sql);
  history_ = history_.mid(0, kHistory);
  at_ = 0;
  QSettings().setValue("sql_history", history_);
  past_->clear();
  for (const QString& text : history_) past_->addItem(text.simplified());
  past_->setCurrentIndex(-1);
}

void SqlPage::showHistory(int at) {
  if (at < 0 || at >= history_.size()) return;
  at_ = at;
  editor_->setPlainText(history_[at]);
  editor_->moveCursor(QTextCursor::End);
}

void SqlPage::older() { showHistory(at_ + 1); }

void SqlPage::newer() { showHistory(at_ - 1); }

bool SqlPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == editor_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool is_return = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (is_return && key->modifiers().testFlag(Qt::ControlModifier)) return run(), true;
    if (key->modifiers() == Qt::AltModifier && key->key() == Qt::Key_Up) return older(), true;
    if (key->modifiers() == Qt::AltModifier && key->key() == Qt::Key_Down) return newer(), true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace pitwall::gui
