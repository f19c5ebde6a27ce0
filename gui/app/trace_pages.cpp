#include "gui/app/trace_pages.h"

#include <QFileInfo>

#include "gui/app/main_window.h"

namespace pitwall::gui {

TracePages::TracePages(MainWindow* window)
    : QObject(window),
      window_(window),
      events_(new EventsPage),
      flame_(new FlamePage),
      sql_(new SqlPage),
      histogram_(new HistogramView),
      kernels_(new KernelsPage(&window->session())),
      trials_(new TrialsPage),
      roofline_(new RooflinePage(&window->session())) {
  window_->addPage("events", tr("&Events"), events_, "Ctrl+Shift+T");
  window_->addPage("flame", tr("&Flame graph"), flame_, "Ctrl+Shift+F");
  window_->addPage("sql", tr("S&QL"), sql_, "Ctrl+Shift+Q");
  window_->addDrawerTab(tr("Histogram"), histogram_);
  addActions();
  connect(window_, &MainWindow::opening, this, &TracePages::clear);
  connect(window_, &MainWindow::loaded, this, &TracePages::load);
  connect(window_, &MainWindow::refreshed, this, &TracePages::refresh);
  connect(&window_->timelineView(), &TimelineView::rangeSelected, this, &TracePages::followRange);
  connect(&window_->timelineView(), &TimelineView::eventSelected, this, &TracePages::followEvent);
  connect(events_, &EventsPage::eventActivated, window_, &MainWindow::showEventOnTimeline);
  connect(events_, &EventsPage::remarked, window_, &MainWindow::showRemark);
  connect(events_, &EventsPage::failed, window_, &MainWindow::showError);
  connect(kernels_, &KernelsPage::eventActivated, window_, &MainWindow::showEventOnTimeline);
  connect(kernels_, &KernelsPage::remarked, window_, &MainWindow::showRemark);
  connect(trials_, &TrialsPage::remarked, window_, &MainWindow::showRemark);
  connect(trials_, &TrialsPage::failed, window_, &MainWindow::showError);
  connect(trials_, &TrialsPage::comparisonWanted, window_, [this](const QString& first, const QString& best) {
    window_->compareAll({first, best});
  });
  connect(&window_->session(), &TraceSession::analyzed, roofline_, &RooflinePage::setReport);
  connect(roofline_, &RooflinePage::operatorActivated, window_, &MainWindow::findOnTimeline);
  connect(sql_, &SqlPage::remarked, window_, &MainWindow::showRemark);
  connect(sql_, &SqlPage::eventWanted, window_, &MainWindow::showEventWithId);
  connect(sql_, &SqlPage::timesWanted, window_, [this](qint64 from, qint64 to) {
    window_->showPage(&window_->timelineView());
    window_->timelineView().selectRange(TimeRange{from, to});
    window_->timelineView().showTimes(from, to);
  });
  connect(flame_, &FlamePage::nameActivated, window_, [this](quint32 name) {
    const auto& timeline = window_->timelineView().timeline();
    // A group stands for its part before the first number.
    if (timeline)
      window_->findOnTimeline(QString::fromStdString(timeline->groupName(name)).section('*', 0, 0));
  });
}

void TracePages::addLastPages() {
  window_->addPage("kernels", tr("&Kernels"), kernels_, "Ctrl+Shift+K");
  window_->addPage("simulate", tr("Si&mulation"), &window_->simulatePage(), "Ctrl+Shift+M");
  window_->addPage("trials", tr("T&rials"), trials_);
  window_->addPage("roofline", tr("R&oofline"), roofline_);
}

void TracePages::addActions() {
  ActionRegistry& actions = window_->actions();
  actions.addSeparator(MenuId::go);
  actions.add(MenuId::go, {"events.export", tr("Export events as &CSV..."), "", [this] {
                             window_->showPage(events_);
                             events_->exportCsv();
                           }});
  actions.add(MenuId::go, {"flame.find", tr("&Highlight names in the flame graph"), "", [this] {
                             window_->showPage(flame_);
                             flame_->find();
                           }});
  actions.add(MenuId::go, {"sql.run", tr("&Run the SQL query"), "Ctrl+Return", [this] {
                             window_->showPage(sql_);
                             sql_->run();
                           }});
  actions.add(MenuId::go, {"go.histogram", tr("&Histogram of the selected event's name"), "Ctrl+Shift+H",
                           [this] { window_->showDrawer(histogram_); }});
  actions.add(MenuId::go, {"sql.stop", tr("&Stop the SQL query"), "", [this] { sql_->cancel(); }});
}

void TracePages::clear() {
  events_->setTimeline(nullptr);
  flame_->setTimeline(nullptr);
  sql_->setTrace({});
  kernels_->setTimeline(nullptr);
  window_->simulatePage().setTimeline(nullptr);
  trials_->clear();
  roofline_->setReport(nullptr);
  histogram_->setEvent(nullptr, std::nullopt, std::nullopt);
}

void TracePages::load() {
  const auto& timeline = window_->timelineView().timeline();
  if (!timeline) return;
  flame_->setSession(&window_->session());
  refresh();
  sql_->setTrace(QString::fromStdString(timeline->path));
  trials_->showFolder(QFileInfo(window_->session().path()).path());
}

// What refers to events of the timeline.
void TracePages::refresh() {
  const auto& timeline = window_->timelineView().timeline();
  events_->setTimeline(timeline);
  flame_->setTimeline(timeline);
  kernels_->setTimeline(timeline);
  // A prediction that is looked at stays while a recording grows.
  SimulatePage& simulate = window_->simulatePage();
  if (!simulate.isVisible() || !simulate.timeline()) simulate.setTimeline(timeline);
}

std::optional<std::pair<TimeNs, TimeNs>> TracePages::range() const {
  const auto& range = window_->timelineView().range();
  if (!range) return std::nullopt;
  return std::pair(range->from, range->to);
}

void TracePages::followRange() {
  events_->setRange(range());
  flame_->setRange(window_->timelineView().tracksSelected(), range());
  followEvent();
}

void TracePages::followEvent() {
  const TimelineView& view = window_->timelineView();
  histogram_->setEvent(view.timeline(), view.selected(), range());
}

}  // namespace pitwall::gui
