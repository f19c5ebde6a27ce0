#include "gui/app/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "analyzer/units_text.h"
#include "gui/app/open_dialog.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/clear_button.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr int kLayoutVersion = 1;

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      session_(new TraceSession(this)),
      timeline_(new TimelineView),
      findings_(new FindingsView),
      details_(new DetailsView),
      range_(new RangeView),
      summary_(new SummaryView),
      compare_(new ComparePage(session_)),
      simulate_(new SimulatePage(session_)),
      pages_(new QTabWidget),
      drawer_(new QTabWidget),
      actions_(std::make_unique<ActionRegistry>(
          this, std::vector<QWidget*>{timeline_, &compare_->timelineA(), &compare_->timelineB(),
                                      &simulate_->recorded(), &simulate_->simulated()})),
      search_(new QLineEdit),
      row_filter_(new QLineEdit),
      hit_number_(new QLabel),
      progress_(new QProgressBar),
      error_(new WrappedLabel),
      notice_(new NoticeBar),
      start_(new StartPage(timeline_)),
      stop_(new QToolButton),
      watch_(new FileWatch(this)) {
  setWindowTitle(tr("Pitwall"));
  setAcceptDrops(true);
  resize(1440, 900);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  error_->setStyleSheet("background:#b3261e;color:white;padding:6px");
  error_->hide();
  auto* center = new QWidget;
  auto* column = new QVBoxLayout(center);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(error_);
  column->addWidget(notice_);
  column->addWidget(pages_, 1);
  pages_->setDocumentMode(true);
  setCentralWidget(center);
  range_->setSession(session_);
  connect(pages_, &QTabWidget::currentChanged, this, &MainWindow::giveRoom);
  connect(range_, &RangeView::remarked, this, &MainWindow::showRemark);
  makeDocks();
  makeMenus();
  progress_->setMaximumWidth(220);
  statusBar()->addPermanentWidget(progress_);
  stop_->setText(tr("Stop"));
  stop_->setToolTip(tr("Stop loading or analysing (Escape while loading)"));
  connect(stop_, &QToolButton::clicked, this, &MainWindow::stopLoading);
  statusBar()->addPermanentWidget(stop_);
  showProgress(false);
  makeStartPage();
  connectSession();
  timeline_->setMessage(emptyMessage());
  const QSettings settings;
  for (TimelineView* view : timelines()) {
    view->setTitlesWidth(settings.value("titles_width").toInt());
    connect(view, &TimelineView::titlesResized, this, [this, view](int width) {
      QSettings().setValue("titles_width", width);
      for (TimelineView* other : timelines()) {
        if (other != view) other->setTitlesWidth(width);
      }
    });
  }
  restoreGeometry(settings.value("geometry").toByteArray());
  has_layout_ = restoreState(settings.value("layout").toByteArray(), kLayoutVersion);
  start_->isVisibleTo(this) ? start_->setFocus() : timeline_->setFocus();
}

QAction* MainWindow::addPage(const char* id, const QString& title, QWidget* page, const char* keys) {
  pages_->addTab(page, QString(title).remove('&'));  // Alt and a letter open the menus
  const QString all = QString("Alt+%1").arg(pages_->count()) + (*keys == 0 ? "" : "; ") + keys;
  const QByteArray whole_id = QByteArray("go.") + id;
  return actions_->add(MenuId::go, {whole_id.constData(), title, all.toLatin1().constData(),
                                    [this, page] { showPage(page); }});
}

void MainWindow::showPage(QWidget* page) {
  pages_->setCurrentWidget(page);
  page->setFocus();
}

QString MainWindow::emptyMessage() const {
  return tr(
      "No trace is open.\n\nOpen one with Ctrl+O, or drop a file here: a .pitwall trace, or a trace of "
      "PyTorch, "
      "Chrome, Nsight Systems (SQLite export), MXNet or oneDNN.\n\nRecord one with: PITWALL_TRACE=my.pitwall "
      "./my_program");
}

void MainWindow::makeDocks() {
  const auto dock = [this](const QString& title, const char* id, QWidget* content, Qt::DockWidgetArea area) {
    auto* made = new QDockWidget(title, this);
    made->setObjectName(id);
    made->setWidget(content);
    addDockWidget(area, made);
    return made;
  };
  auto* findings = dock(tr("Findings and settings"), "findings", findings_, Qt::RightDockWidgetArea);
  drawer_->addTab(summary_, tr("Summary"));
  drawer_->addTab(details_, tr("Details"));
  drawer_->addTab(range_, tr("Range"));
  auto* drawer = dock(tr("Event and range"), "drawer", drawer_, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  findings_dock_ = findings;
  drawer_dock_ = drawer;

  auto* bar = addToolBar(tr("Search"));
  bar->setObjectName("search");
  search_->setPlaceholderText(tr("Search events (/)"));
  search_->setAccessibleName(tr("Search events"));
  addClearButton(*search_);
  row_filter_->setPlaceholderText(tr("Filter rows (Ctrl+P)"));
  row_filter_->setAccessibleName(tr("Filter rows"));
  addClearButton(*row_filter_);
  bar->addWidget(search_);
  hit_number_->setMinimumWidth(fontMetrics().averageCharWidth() * 16);
  hit_number_->setAlignment(Qt::AlignCenter);
  bar->addWidget(hit_number_);
  bar->addSeparator();
  bar->addWidget(row_filter_);
  connect(search_, &QLineEdit::returnPressed, this,
          [this] { find(search_->text(), !QApplication::keyboardModifiers().testFlag(Qt::ShiftModifier)); });
  makeSearch();
  connect(row_filter_, &QLineEdit::textChanged, timeline_, &TimelineView::setRowFilter);
}

void MainWindow::connectSession() {
  connect(session_, &TraceSession::progressed, this, [this](double share, const QString& what) {
    showProgress(true);
    progress_->setRange(0, share >= 1 ? 0 : 1000);
    progress_->setValue(static_cast<int>(share * 1000));
    progress_->setFormat(what + " %p%");
  });
  connect(session_, &TraceSession::timelineLoaded, this, [this](std::shared_ptr<const Timeline> timeline) {
    timeline_->setTimeline(timeline);
    if (!search_->text().isEmpty()) typing_.start();
    const bool empty = timeline->tracks.empty();  // a recording of samples alone has counters and stacks
    if (empty) timeline_->setMessage(tr("%1 holds no events.").arg(session_->path()));
    if (empty) timeline_->setTimeline(nullptr);
    showCounts(*timeline);
    if (!timeline->complete && notice_->text().isEmpty())
      notice_->setText(
          follow_->isChecked()
              ? tr("The recording goes on or was ended: what is recorded from now on appears by itself.")
              : tr("The recording did not finish: what the program did after its last record is missing."));
    emit loaded();
  });
  connect(session_, &TraceSession::incomplete, notice_, &NoticeBar::setText);
  connect(session_, &TraceSession::criticalPathFound, timeline_, &TimelineView::setCriticalPath);
  connect(session_, &TraceSession::analyzed, this, [this](const ReportPtr& report) {
    showProgress(false);
    findings_->setReport(report);
    summary_->setReport(report);
    emit analysisShown();
  });
  connect(session_, &TraceSession::detailsFound, this, &MainWindow::showDetails);
  connect(details_, &DetailsView::eventWanted, timeline_,
          [this](const EventRef& event) { timeline_->select(event, true); });
  connect(timeline_, &TimelineView::remarked, this, &MainWindow::showRemark);
  connect(session_, &TraceSession::failed, this, [this](const QString& what) {
    showProgress(false);
    if (!timeline_->timeline()) start_->show();
    showError(what);
    if (!timeline_->timeline()) timeline_->setMessage(emptyMessage());
    findings_->setWaiting(tr("The trace was not analysed."));
    emit loadFailed(what);
  });
  connect(timeline_, &TimelineView::eventSelected, this, [this] {
    if (timeline_->selected()) {
      session_->askDetails(timeline_->timeline(), *timeline_->selected());
      showInDrawer(details_);
    } else {
      details_->setDetails({});
    }
  });
  connect(timeline_, &TimelineView::rangeSelected, this, &MainWindow::askRange);
  connect(findings_, &FindingsView::evidenceSelected, this, &MainWindow::showEvidence);
  connect(findings_, &FindingsView::remarked, this,
          [this](const QString& text) { statusBar()->showMessage(text, 15000); });
  connect(findings_, &FindingsView::failed, this, &MainWindow::showError);
  connect(range_, &RangeView::nameActivated, this, &MainWindow::findOnTimeline);
}

void MainWindow::showCounts(const Timeline& timeline) {
  statusBar()->showMessage(
      tr("%1 events on %2 tracks%3")
          .arg(QString::fromStdString(showCount(static_cast<std::int64_t>(timeline.events))))
          .arg(timeline.tracks.size())
          .arg(timeline.complete ? QString() : tr("; the recording did not finish")));
}

void MainWindow::open(const QString& path) {
  const QFileInfo file(path);
  const QString folder = file.isDir() ? path : file.fileName() == "result.json" ? file.path() : QString();
  if (!folder.isEmpty() && !trialsIn(folder).isEmpty()) return openTrials(folder);
  startOpening(QFileInfo(path).fileName());
  timeline_->setMessage(tr("Opening %1 ...").arg(path));
  watch_->watch(path);
  session_->open(path);
  remember(path);
}

// Ends what was open.
void MainWindow::startOpening(const QString& name) {
  emit opening(name);
  error_->hide();
  notice_->setText({});
  start_->hide();
  if (focusWidget() == nullptr || start_->isAncestorOf(focusWidget()) || focusWidget() == start_)
    timeline_->setFocus();  // its keys act at once
  timeline_->setTimeline(nullptr);
  timeline_->setMessage(tr("Opening %1 ...").arg(name));
  findings_->setWaiting(tr("Analysing ..."));
  summary_->setReport(nullptr);
  details_->setDetails({});
  range_->clear();
  setWindowTitle(tr("%1 - Pitwall").arg(name));
  refreshing_.invalidate();
}

void MainWindow::closeTrace() {
  emit opening({});
  session_->close();
  watch_->watch({});
  error_->hide();
  notice_->setText({});
  start_->show();
  showProgress(false);
  timeline_->setTimeline(nullptr);
  timeline_->setMessage(emptyMessage());
  findings_->setWaiting({});
  summary_->setReport(nullptr);
  details_->setDetails({});
  range_->clear();
  compare_->setFirst(nullptr, nullptr);
  setWindowTitle(tr("Pitwall"));
  statusBar()->clearMessage();
}

void MainWindow::compareWith(const QString& path) {
  error_->hide();
  compare_->openOther(path);
  showPage(compare_);
  remember(path);
}

void MainWindow::showError(const QString& what) {
  error_->setText(what);
  error_->show();
  statusBar()->clearMessage();
}

void MainWindow::showDrawer(QWidget* content) {
  drawer_->parentWidget()->setVisible(true);
  drawer_->setCurrentWidget(content);
  content->setFocus();
}

void MainWindow::showRemark(const QString& text) { statusBar()->showMessage(text, 15000); }

void MainWindow::findOnTimeline(const QString& text) {
  showPage(timeline_);
  search_->setText(text);
  find(text, true);
}

void MainWindow::showEventOnTimeline(const EventRef& event) {
  showPage(timeline_);
  timeline_->goTo(event);
}

void MainWindow::askRange() {
  if (!timeline_->timeline() || !timeline_->range()) return range_->clear();
  range_->ask(timeline_->timeline(), timeline_->tracksSelected(), timeline_->range()->from,
              timeline_->range()->to);
  showInDrawer(range_);
}

// The result of a click must not hide what the user has chosen to see.
void MainWindow::showInDrawer(QWidget* content) {
  const QWidget* shown = drawer_->currentWidget();
  if (shown == summary_ || shown == details_ || shown == range_) drawer_->setCurrentWidget(content);
}

// The drawer is about the timeline's selection; two timelines need its room.
void MainWindow::giveRoom() {
  const bool comparing = pages_->currentWidget() == compare_ || pages_->currentWidget() == simulate_;
  if (comparing == gave_room_) return;
  gave_room_ = comparing;
  if (comparing) drawer_open_ = !drawer_dock_->isHidden();
  drawer_dock_->setVisible(!comparing && drawer_open_);
}

// The first time, when no layout has been chosen yet: a small window leaves more to the timeline.
void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (std::exchange(has_layout_, true)) return;
  resizeDocks({findings_dock_}, {std::min(480, width() * 36 / 100)}, Qt::Horizontal);
  resizeDocks({drawer_dock_}, {std::min(280, height() * 34 / 100)}, Qt::Vertical);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile())
    event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) files += url.toLocalFile();
  }
  if (files.isEmpty()) return;
  event->acceptProposedAction();
  openFiles(files);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  emit closing();
  if (gave_room_) drawer_dock_->setVisible(drawer_open_);  // as it is to come back
  QSettings settings;
  settings.setValue("geometry", saveGeometry());
  settings.setValue("layout", saveState(kLayoutVersion));
  event->accept();
}

}  // namespace pitwall::gui
