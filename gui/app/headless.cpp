#include "gui/app/headless.h"

#include <QApplication>
#include <QEventLoop>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QThreadPool>
#include <cstdio>

#include "analyzer/emit.h"
#include "gui/app/exports.h"
#include "gui/app/main_window.h"
#include "gui/app/signals.h"
#include "gui/models/event_details.h"
#include "gui/timeline/aggregate.h"
#include "gui/timeline/search.h"
#include "gui/views/compare_page.h"

namespace pitwall::gui {
namespace {

constexpr int kNotWritten = 2, kUnreadable = 3;
constexpr int kRounds = 4;  // a result may cause another request

int reportError(const QString& what, int code) {
  std::fprintf(stderr, "pitwall-gui: %s\n", qPrintable(what));
  return code;
}

// Processes all pending requests: of the trace's thread, of the pool, of the event loop.
void settle(TraceSession& session) {
  for (int round = 0; round < kRounds; ++round) {
    QApplication::processEvents();
    QThreadPool::globalInstance()->waitForDone();
    QEventLoop loop;
    session.ask(
        [&loop](Trace&) { QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection); });
    loop.exec();
  }
  QApplication::processEvents();
}

TimeRange rangeWithin(const Timeline& timeline, const ExportRange& range) {
  return {std::max(range.begin_ns, timeline.begin_ns), std::min(range.end_ns, timeline.end_ns)};
}

std::optional<EventRef> eventWithId(TraceSession& session, const Timeline& timeline, qlonglong id) {
  std::optional<EventRef> found;
  QEventLoop loop;
  session.ask([&](Trace& trace) {
    found = eventWithId(trace, timeline, id);
    QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection);
  });
  loop.exec();
  return found;
}

// The first event of exactly that name, else of a name that contains it, else the one with that id.
std::optional<EventRef> eventCalled(TraceSession& session, const Timeline& timeline, const QString& what) {
  const std::string text = what.toStdString();
  std::vector<bool> names(timeline.names.size(), false);
  for (std::size_t i = 1; i < names.size(); ++i) names[i] = timeline.names[i] == text;
  if (const auto exact = findEvent(timeline, names, std::nullopt, true)) return exact;
  bool number = false;
  const qlonglong id = what.toLongLong(&number);
  if (number) return eventWithId(session, timeline, id);
  return findEvent(timeline, matchingNames(timeline, text), std::nullopt, true);
}

bool writeFile(const QString& path, const QByteArray& bytes) {
  QSaveFile file(path);
  return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
}

struct Opened {
  TraceSession session;
  std::shared_ptr<const Timeline> timeline;
  ReportPtr report;
  Details details;
  QString error;
};

// Reads and analyses; true when it could.
bool openNow(Opened& opened, const QStringList& paths) {
  QEventLoop loop;
  QObject::connect(&opened.session, &TraceSession::timelineLoaded, &loop,
                   [&](std::shared_ptr<const Timeline> timeline) { opened.timeline = std::move(timeline); });
  QObject::connect(&opened.session, &TraceSession::analyzed, &loop, [&](const ReportPtr& report) {
    opened.report = report;
    loop.quit();
  });
  QObject::connect(&opened.session, &TraceSession::failed, &loop, [&](const QString& what) {
    opened.error = what;
    loop.quit();
  });
  opened.session.open(paths);
  loop.exec();
  if (signalReceived() != 0) opened.error = "interrupted";
  return opened.error.isEmpty();
}

struct Happened {
  TimeRange range;
  std::vector<AggregateRow> rows;
  std::int64_t total_ns = 0;

  double share(const AggregateRow& row) const {
    return total_ns > 0 ? static_cast<double>(row.total_ns) / static_cast<double>(total_ns) : 0;
  }
};

Happened happenedIn(const Timeline& timeline, const std::optional<ExportRange>& range) {
  Happened happened;
  happened.range = rangeWithin(
      timeline,
      range.value_or(ExportRange{timeline.begin_ns, std::max(timeline.end_ns, timeline.begin_ns + 1)}));
  std::vector<std::size_t> tracks(timeline.tracks.size());
  for (std::size_t i = 0; i < tracks.size(); ++i) tracks[i] = i;
  happened.rows = aggregate(timeline, tracks, happened.range.from, happened.range.to);
  for (const AggregateRow& row : happened.rows) happened.total_ns += row.total_ns;
  return happened;
}

QByteArray asCsv(const Timeline& timeline, const Happened& happened) {
  QString text = "name,count,total_ns,share,mean_ns,p50_ns,p99_ns,min_ns,max_ns\n";
  for (const AggregateRow& row : happened.rows) {
    text += csvCell(QString::fromStdString(timeline.name(row.name)));
    text += QString(",%1,%2,%3").arg(row.count).arg(row.total_ns).arg(happened.share(row), 0, 'g', 6);
    for (const TimeNs ns : {row.mean_ns, row.p50_ns, row.p99_ns, row.min_ns, row.max_ns})
      text += QString(",%1").arg(ns);
    text += '\n';
  }
  return text.toUtf8();
}

QByteArray asJson(const Opened& opened, const Happened& happened) {
  const Timeline& timeline = *opened.timeline;
  QJsonArray names;
  for (const AggregateRow& row : happened.rows) {
    names.append(QJsonObject{{"name", QString::fromStdString(timeline.name(row.name))},
                             {"count", static_cast<qint64>(row.count)},
                             {"total_ns", static_cast<qint64>(row.total_ns)},
                             {"share", happened.share(row)},
                             {"mean_ns", static_cast<qint64>(row.mean_ns)},
                             {"p50_ns", static_cast<qint64>(row.p50_ns)},
                             {"p99_ns", static_cast<qint64>(row.p99_ns)},
                             {"min_ns", static_cast<qint64>(row.min_ns)},
                             {"max_ns", static_cast<qint64>(row.max_ns)}});
  }
  QJsonObject whole{{"schema_version", 1},
                    {"trace", opened.session.path()},
                    {"events", static_cast<qint64>(timeline.events)},
                    {"range", QJsonObject{{"begin_ns", static_cast<qint64>(happened.range.from)},
                                          {"end_ns", static_cast<qint64>(happened.range.to)}}},
                    {"names", names}};
  if (!opened.details.empty()) {
    QJsonObject facts;
    for (const auto& [name, value] : opened.details) facts[name] = value;
    whole["selected"] = facts;
  }
  return QJsonDocument(whole).toJson();
}

int exportTables(const CommandLine& line) {
  const bool json = line.export_to.endsWith(".json", Qt::CaseInsensitive);
  Opened a;
  const bool merge = line.merge || line.files.size() == 1;
  if (!openNow(a, merge ? line.files : line.files.mid(0, 1))) return reportError(a.error, kUnreadable);
  QByteArray text;
  if (!merge) {
    ComparePage page(&a.session);
    QString error;
    QEventLoop loop;
    QObject::connect(&page, &ComparePage::compared, &loop, &QEventLoop::quit);
    QObject::connect(&page, &ComparePage::failed, &loop, [&](const QString& what) {
      error = what;
      loop.quit();
    });
    page.setFirst(a.timeline, a.report);
    page.openOther(line.files[1]);
    loop.exec();
    if (!page.comparison()) return reportError(error, kUnreadable);
    text = json ? QByteArray::fromStdString(comparisonAsJson(*page.comparison()))
                : tableText(page.changes(), ',').toUtf8();
  } else {
    if (!line.select.isEmpty()) {
      const auto event = eventCalled(a.session, *a.timeline, line.select);
      if (!event) return reportError("no event has the name " + line.select, kNotWritten);
      QEventLoop loop;
      QObject::connect(&a.session, &TraceSession::detailsFound, &loop, [&](const Details& details) {
        a.details = details;
        loop.quit();
      });
      a.session.askDetails(a.timeline, *event);
      loop.exec();
    }
    const Happened happened = happenedIn(*a.timeline, line.range);
    text = json ? asJson(a, happened) : asCsv(*a.timeline, happened);
  }
  if (!writeFile(line.export_to, text))
    return reportError(line.export_to + " cannot be written", kNotWritten);
  return 0;
}

int exportPicture(const CommandLine& line) {
  MainWindow window;
  if (line.size.isValid()) window.resize(line.size);
  window.show();
  QString error;
  int code = 0;
  if (!line.files.isEmpty()) {
    QEventLoop loop;
    QObject::connect(&window, &MainWindow::analysisShown, &loop, &QEventLoop::quit);
    QObject::connect(&window, &MainWindow::loadFailed, &loop, [&](const QString& what) {
      error = what;
      loop.quit();
    });
    line.merge&& line.files.size() > 1 ? window.openMerged(line.files) : window.open(line.files[0]);
    loop.exec();
  }
  if (error.isEmpty() && line.files.size() == 2 && !line.merge) {
    QEventLoop loop;
    QObject::connect(&window.comparePage(), &ComparePage::compared, &loop, &QEventLoop::quit);
    QObject::connect(&window.comparePage(), &ComparePage::failed, &loop, [&](const QString& what) {
      error = what;
      loop.quit();
    });
    window.compareWith(line.files[1]);
    loop.exec();
  }
  if (signalReceived() != 0) return reportError("interrupted", kUnreadable);
  bool simulated = false;
  QObject::connect(&window.simulatePage(), &SimulatePage::settled, [&] { simulated = true; });
  if (!error.isEmpty()) {
    code = reportError(error, kUnreadable);
    QApplication::processEvents();
  } else if (const QString wrong = applyToWindow(window, line); !wrong.isEmpty()) {
    return reportError(wrong, kNotWritten);
  }
  if (error.isEmpty() && !line.simulate.isEmpty() && !simulated) {
    QEventLoop loop;
    QObject::connect(&window.simulatePage(), &SimulatePage::settled, &loop, &QEventLoop::quit);
    loop.exec();
  }
  // The page in front computes in the background; a result may cause another request.
  for (int round = 0; round < 3; ++round) {
    QApplication::processEvents();
    QThreadPool::globalInstance()->waitForDone();
  }
  QApplication::processEvents();
  for (TimelineView* view : window.findChildren<TimelineView*>()) view->updateLegend();
  if (!savePicture(window, line.export_to))
    return reportError(line.export_to + " cannot be written", kNotWritten);
  return code;
}

}  // namespace

QString applyToWindow(MainWindow& window, const CommandLine& line) {
  const auto& timeline = window.timelineView().timeline();
  QAction* colors = window.actions().find("view.color_blind");
  if (line.color_blind && !colors->isChecked()) colors->trigger();
  if (!line.page.isEmpty()) {
    QAction* action = window.actions().find("go." + line.page);
    if (action == nullptr) return "--page " + line.page + ": there is no such page";
    action->trigger();
  }
  if (!line.simulate.isEmpty() && timeline) {
    window.actions().find("go.simulate")->trigger();
    window.simulatePage().setChanges(line.simulate);
    window.simulatePage().predict();
  }
  if (line.range && timeline) {
    const TimeRange range = rangeWithin(*timeline, *line.range);
    if (range.to <= range.from) return "--range: no event of the trace is within it";
    window.timelineView().showTimes(range.from, range.to);
    window.timelineView().selectRange(range);
  }
  if (!line.select.isEmpty() && timeline) {
    const auto event = eventCalled(window.session(), *timeline, line.select);
    if (!event) return "no event has the name " + line.select;
    window.timelineView().select(event, true);
  }
  if (timeline) settle(window.session());
  return {};
}

int exportAndExit(const CommandLine& line) {
  // No user's layout, recent files or notes are read or written: the same command writes the same picture.
  const QTemporaryDir no_user;
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, no_user.path());
  QFont font = QApplication::font();
  font.setStyleStrategy(QFont::NoSubpixelAntialias);  // subpixel colours suit only one kind of screen
  QApplication::setFont(font);
  qputenv("XDG_DATA_HOME", no_user.path().toLocal8Bit());
  const QString suffix = QFileInfo(line.export_to).suffix().toLower();
  return suffix == "csv" || suffix == "json" ? exportTables(line) : exportPicture(line);
}

}  // namespace pitwall::gui
