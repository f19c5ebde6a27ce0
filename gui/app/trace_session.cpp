#include "gui/app/trace_session.h"

#include <QTemporaryDir>

#include "analyzer/analysis.h"
#include "analyzer/units_text.h"
#include "db/import.h"
#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_cache.h"

namespace pitwall::gui {
namespace {

// Traces of fewer events open as fast without a cache.
constexpr std::size_t kLeastCached = 500'000;

QString text(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return QString::number(*integer);
  if (const auto* real = std::get_if<double>(&value)) return QString::number(*real);
  if (const auto* string = std::get_if<std::string>(&value)) return QString::fromStdString(*string);
  return {};
}

std::int64_t integer(const SqlValue& value) {
  const auto* held = std::get_if<std::int64_t>(&value);
  return held == nullptr ? 0 : *held;
}

QString duration(std::int64_t ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); }

void addIf(Details& details, const QString& name, const QString& value) {
  if (!value.isEmpty()) details.emplace_back(name, value);
}

// The four times of an operator, told as people ask for them.
void addTimes(Details& details, const std::vector<SqlValue>& row) {
  const std::int64_t start = integer(row[1]), dur = integer(row[2]), pushed = integer(row[3]),
                     ready = integer(row[4]);
  details.emplace_back("Starts at", QString::fromStdString(showMoment(static_cast<double>(start), 1)));
  details.emplace_back("Ran for", duration(dur));
  if (pushed < start) {
    details.emplace_back("Waited for its operands", duration(std::max<std::int64_t>(0, ready - pushed)));
    details.emplace_back("Queued for a worker", duration(std::max<std::int64_t>(0, start - ready)));
  }
}

void addOperator(Trace& trace, Details& details, std::int64_t id, std::int64_t dur_ns) {
  if (id <= 0 || static_cast<std::size_t>(id) > trace.operatorFacts().size()) return;
  const OperatorFacts& facts = trace.operatorFacts()[static_cast<std::size_t>(id - 1)];
  addIf(details, "Operator", QString::fromStdString(facts.name));
  addIf(details, "Layer", QString::fromStdString(facts.layer));
  addIf(details, "Phase", QString::fromLatin1(toString(facts.phase)));
  addIf(details, "Shapes", QString::fromStdString(facts.shapes));
  addIf(details, "Type", QString::fromStdString(facts.dtype));
  addIf(details, "Backend", QString::fromStdString(facts.backend));
  addIf(details, "Implementation", QString::fromStdString(facts.implementation));
  const double seconds = static_cast<double>(dur_ns) * 1e-9;
  if (facts.flop > 0 && seconds > 0) {
    details.emplace_back("Work", QString::fromStdString(showScaled(static_cast<double>(facts.flop), "FLOP")));
    details.emplace_back(
        "Rate", QString::fromStdString(showScaled(static_cast<double>(facts.flop) / seconds, "FLOP/s")));
  }
  const Bytes bytes = facts.bytes_read + facts.bytes_written;
  if (bytes > 0 && seconds > 0) {
    details.emplace_back("Reads and writes",
                         QString::fromStdString(showBytes(static_cast<double>(facts.bytes_read)) + ", " +
                                                showBytes(static_cast<double>(facts.bytes_written))));
    details.emplace_back("Memory rate",
                         QString::fromStdString(showScaled(static_cast<double>(bytes) / seconds, "B/s")));
  }
}

void addKernel(Trace& trace, Details& details, std::int64_t id) {
  if (id <= 0) return;
  const SqlParameter parameter{":id", id};
  const auto rows = trace.query("SELECT * FROM kernel WHERE id = :id", {&parameter, 1});
  if (!rows.has_value() || rows->rows.empty()) return;
  for (std::size_t i = 1; i < rows->columns.size(); ++i)
    addIf(details, QString::fromStdString(rows->columns[i]).replace('_', ' '), text(rows->rows[0][i]));
}

}  // namespace

struct TraceSession::Work : QObject {
  std::shared_ptr<QTemporaryDir> imported;  // holds the trace made of another tool's file
  std::unique_ptr<Trace> trace;
};

TraceSession::TraceSession(QObject* parent)
    : QObject(parent),
      work_(new Work),
      analyst_(new Work),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  qRegisterMetaType<std::shared_ptr<const Timeline>>();
  qRegisterMetaType<pitwall::gui::ReportPtr>();
  work_->moveToThread(&thread_);
  analyst_->moveToThread(&analysis_thread_);
  connect(&thread_, &QThread::finished, work_, &QObject::deleteLater);
  connect(&analysis_thread_, &QThread::finished, analyst_, &QObject::deleteLater);
  thread_.start();
  analysis_thread_.start();
}

TraceSession::~TraceSession() {
  cancel_->store(true);
  for (QThread* thread : {&thread_, &analysis_thread_}) {  // the first may still give the other work
    thread->quit();
    thread->wait();
  }
}

void TraceSession::post(std::function<void(Work&)> job) {
  QMetaObject::invokeMethod(
      work_, [work = work_, job = std::move(job)] { job(*work); }, Qt::QueuedConnection);
}

void TraceSession::tell(const Cancel& cancel, std::function<void()> what) {
  QMetaObject::invokeMethod(
      this,
      [cancel, what = std::move(what)] {
        if (!cancel->load()) what();
      },
      Qt::QueuedConnection);
}

void TraceSession::open(const QString& path) {
  path_ = path;
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  post([this, path, cancel = cancel_](Work& work) {
    if (!cancel->load()) load(work, path, cancel);
  });
}

void TraceSession::load(Work& work, const QString& path, const Cancel& cancel) {
  // What goes on is told in hundredths, not thousands of times.
  const auto progress = [this, cancel, told = std::make_shared<int>(-1)](double share, const QString& what) {
    const int percent = static_cast<int>(share * 100);
    if (std::exchange(*told, percent) != percent) tell(cancel, [=, this] { emit progressed(share, what); });
  };
  const auto give_up = [this, cancel](const std::string& why) {
    tell(cancel, [this, why] { emit failed(QString::fromStdString(why)); });
  };
  work.trace.reset();
  work.imported.reset();
  auto trace = Trace::open(path.toStdString());
  if (!trace.has_value() && trace.error().code == ErrorCode::corruptTrace) {
    // Perhaps another tool's. What Pitwall says of its own traces stands when nobody knows the file.
    work.imported = std::make_shared<QTemporaryDir>();
    const std::string inputs[] = {path.toStdString()};
    const std::string made = work.imported->filePath("imported.pitwall").toStdString();
    ImportOptions options;
    options.cancel = cancel.get();
    options.progress = [&progress](const ImportProgress& p) {
      progress(static_cast<double>(p.done_bytes) / static_cast<double>(std::max<Bytes>(1, p.total_bytes)),
               tr("Importing"));
    };
    if (importToFile(inputs, made, options).has_value()) trace = Trace::open(made);
  }
  if (!trace.has_value()) return give_up(trace.error().message);
  work.trace = std::move(trace.value());
  LoadControl control{.progress = [&progress](double share) { progress(share, tr("Loading")); },
                      .cancel = cancel.get(),
                      .cache_folder = work.imported ? "" : timelineCacheFolder()};
  const auto identity = traceIdentity(*work.trace);
  auto loaded = loadTimeline(*work.trace, control);
  if (!loaded.has_value()) return give_up(loaded.error().message);
  const std::shared_ptr<const Timeline> timeline = loaded.value();
  tell(cancel, [this, timeline] {
    emit timelineLoaded(timeline);
    emit progressed(1, tr("Analysing"));
  });
  analyze(work.trace->path(), work.imported, cancel);
  if (timeline->events < kLeastCached || timeline->from_cache || control.cache_folder.empty()) return;
  // Another trace may have taken its place meanwhile. A cache that cannot be written is done without.
  if (!cancel->load() && identity && identity == traceIdentity(*work.trace))
    (void)writeTimelineCache(control.cache_folder, *identity, *timeline);
}

void TraceSession::analyze(const std::string& path, const std::shared_ptr<void>& keep, const Cancel& cancel) {
  QMetaObject::invokeMethod(
      analyst_,
      [this, path, keep, cancel] {
        if (cancel->load()) return;
        auto trace = Trace::open(path);
        auto report = trace.has_value() ? analyzeTrace(*trace.value()) : Result<Report>(fail(trace.error()));
        if (!report.has_value())
          return tell(cancel,
                      [this, why = report.error().message] { emit failed(QString::fromStdString(why)); });
        auto made = std::make_shared<const Report>(std::move(report.value()));
        tell(cancel, [this, made] { emit analyzed(made); });
      },
      Qt::QueuedConnection);
}

void TraceSession::close() {
  path_.clear();
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  post([](Work& work) {
    work.trace.reset();
    work.imported.reset();
  });
}

void TraceSession::ask(std::function<void(Trace&)> job) {
  post([job = std::move(job)](Work& work) {
    if (work.trace) job(*work.trace);
  });
}

void TraceSession::askDetails(std::shared_ptr<const Timeline> timeline, const EventRef& event) {
  post([this, timeline = std::move(timeline), event](Work& work) {
    if (!work.trace) return;
    const TimelineTrack& track = timeline->tracks[event.track];
    const Lane& lane = track.lanes[event.lane];
    const SqlParameter parameters[] = {{":track", static_cast<std::int64_t>(track.id.value)},
                                       {":start", lane.startNs(event.index)},
                                       {":dur", lane.durNs(event.index)},
                                       {":name", timeline->name(lane.name(event.index))}};
    const auto rows = work.trace->query(
        "SELECT kind, start_ns, dur_ns, pushed_ns, ready_ns, operator, correlation, value, kernel, args "
        "FROM event WHERE track = :track AND start_ns = :start AND dur_ns = :dur AND name = :name LIMIT 1",
        parameters);
    Details details;
    details.emplace_back("Name", QString::fromStdString(timeline->name(lane.name(event.index))));
    details.emplace_back("Track", QString::fromStdString(track.title));
    std::vector<std::pair<quint64, qint64>> linked;
    quint64 correlation = 0;
    if (!rows.has_value()) {
      details.emplace_back("Not known", QString::fromStdString(rows.error().message));
    } else if (!rows->rows.empty()) {
      const auto& row = rows->rows[0];
      addIf(details, "Kind", text(row[0]).replace('_', ' '));
      addTimes(details, row);
      addOperator(*work.trace, details, integer(row[5]), integer(row[2]));
      addKernel(*work.trace, details, integer(row[8]));
      if (integer(row[7]) != 0) {
        const bool bytes = text(row[0]) == "copy" || text(row[0]) == "communication";
        details.emplace_back(
            bytes ? "Size" : "Value",
            bytes ? QString::fromStdString(showBytes(static_cast<double>(integer(row[7])))) : text(row[7]));
      }
      addIf(details, "Arguments", text(row[9]));
      correlation = static_cast<quint64>(integer(row[6]));
      if (correlation != 0) {
        const SqlParameter parameter{":c", integer(row[6])};
        const auto links = work.trace->query(
            "SELECT e.track, e.start_ns FROM event e WHERE e.correlation IN "
            "(SELECT source FROM dependency WHERE target = :c UNION SELECT target FROM dependency WHERE "
            "source = :c) "
            "AND e.correlation <> :c LIMIT 64",
            {&parameter, 1});
        if (links.has_value()) {
          for (const auto& link : links->rows)
            linked.emplace_back(static_cast<quint64>(integer(link[0])), integer(link[1]));
        }
      }
    }
    emit detailsFound(details, correlation, linked);
  });
}

}  // namespace pitwall::gui
