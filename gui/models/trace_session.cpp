#include "gui/models/trace_session.h"

#include <QTemporaryDir>

#include "analyzer/analysis.h"
#include "db/import.h"
#include "gui/timeline/timeline_cache.h"

namespace pitwall::gui {
namespace {

// Traces of fewer events open as fast without a cache.
constexpr std::size_t kLeastCached = 500'000;

// Empty: all of the file is there.
QString missingText(const ImportSummary& summary) {
  QString text;
  for (const ImportedInput& input : summary.inputs) {
    if (input.complete) continue;
    text += TraceSession::tr("%1 is damaged or ends early: %2. What comes before that is shown. ")
                .arg(QString::fromStdString(input.path), QString::fromStdString(input.damage));
  }
  qlonglong dropped = 0;
  QStringList kinds;
  for (const auto& [kind, count] : summary.dropped) {
    dropped += count.count;
    kinds += QString::fromStdString(kind);
  }
  if (dropped > 0)
    text += TraceSession::tr("Left out as invalid: %1 records (%2). ").arg(dropped).arg(kinds.join("; "));
  return text.trimmed();
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

void TraceSession::postToUi(const Cancel& cancel, std::function<void()> what) {
  QMetaObject::invokeMethod(
      this,
      [cancel, what = std::move(what)] {
        if (!cancel->load()) what();
      },
      Qt::QueuedConnection);
}

void TraceSession::open(const QStringList& paths) {
  paths_ = paths;
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  post([this, paths, cancel = cancel_](Work& work) {
    if (!cancel->load()) load(work, paths, cancel);
  });
}

void TraceSession::refresh() {
  post([this, cancel = cancel_](Work& work) {
    if (cancel->load() || !work.trace) return;
    const std::string path = work.trace->path();
    auto trace = Trace::open(path);
    std::shared_ptr<const Timeline> timeline;
    if (trace.has_value()) {
      auto loaded = loadTimeline(**trace, {.progress = {}, .cancel = cancel.get()});
      if (loaded.has_value()) {
        work.trace = std::move(trace.value());
        timeline = loaded.value();
      }
    }
    // Null: could not be read just now.
    postToUi(cancel, [this, timeline] { emit timelineRefreshed(timeline); });
    if (timeline && timeline->complete) analyze(path, timeline, work.imported, cancel);
  });
}

void TraceSession::load(Work& work, const QStringList& paths, const Cancel& cancel) {
  // Progress is reported in steps of 1 %.
  const auto progress = [this, cancel, reported = std::make_shared<int>(-1)](double share,
                                                                             const QString& what) {
    const int percent = static_cast<int>(share * 100);
    if (std::exchange(*reported, percent) != percent)
      postToUi(cancel, [=, this] { emit progressed(share, what); });
  };
  const auto give_up = [this, cancel](const std::string& why) {
    postToUi(cancel, [this, why] { emit failed(QString::fromStdString(why)); });
  };
  work.trace.reset();
  work.imported.reset();
  const bool several = paths.size() > 1;
  auto trace = several ? Result<std::unique_ptr<Trace>>(fail(ErrorCode::corruptTrace, ""))
                       : Trace::open(paths[0].toStdString());
  if (!trace.has_value() && trace.error().code == ErrorCode::corruptTrace) {
    // It may be another tool's. Where no importer knows the file either, the first error is reported.
    work.imported = std::make_shared<QTemporaryDir>();
    std::vector<std::string> inputs;
    for (const QString& path : paths) inputs.push_back(path.toStdString());
    const std::string made = work.imported->filePath("imported.pitwall").toStdString();
    ImportOptions options;
    options.cancel = cancel.get();
    options.progress = [&progress](const ImportProgress& p) {
      progress(static_cast<double>(p.done_bytes) / static_cast<double>(std::max<Bytes>(1, p.total_bytes)),
               tr("Importing"));
    };
    if (const auto summary = importToFile(inputs, made, options); summary.has_value()) {
      trace = Trace::open(made);
      const QString missing = missingText(*summary);
      if (!missing.isEmpty()) postToUi(cancel, [this, missing] { emit incomplete(missing); });
    } else if (several) {
      return give_up(summary.error().message);
    }
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
  postToUi(cancel, [this, timeline] {
    emit timelineLoaded(timeline);
    emit progressed(1, tr("Analysing"));
  });
  analyze(work.trace->path(), timeline, work.imported, cancel);
  if (timeline->events < kLeastCached || timeline->from_cache || control.cache_folder.empty()) return;
  // Another trace may have been opened meanwhile. A cache that cannot be written is ignored.
  if (!cancel->load() && identity && identity == traceIdentity(*work.trace))
    (void)writeTimelineCache(control.cache_folder, *identity, *timeline);
}

void TraceSession::analyze(const std::string& path, std::shared_ptr<const Timeline> timeline,
                           const std::shared_ptr<void>& keep, const Cancel& cancel) {
  QMetaObject::invokeMethod(
      analyst_,
      [this, path, timeline = std::move(timeline), keep, cancel] {
        if (cancel->load()) return;
        auto trace = Trace::open(path);
        AnalyzeOptions options;
        options.cancel = cancel.get();
        auto report =
            trace.has_value() ? analyzeTrace(*trace.value(), options) : Result<Report>(fail(trace.error()));
        if (!report.has_value())
          return postToUi(cancel,
                          [this, why = report.error().message] { emit failed(QString::fromStdString(why)); });
        auto made = std::make_shared<const Report>(std::move(report.value()));
        // A path that cannot be read is not shown; the report says what failed.
        auto steps = criticalSteps(*trace.value(), *timeline);
        postToUi(cancel, [this, made, path = steps.has_value() ? *steps : nullptr] {
          if (path) emit criticalPathFound(path);
          emit analyzed(made);
        });
      },
      Qt::QueuedConnection);
}

void TraceSession::stop() {
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
}

void TraceSession::close() {
  paths_.clear();
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
    const EventFacts facts = factsOf(*work.trace, *timeline, event);
    emit detailsFound(facts.details, facts.links, event);
  });
}

}  // namespace pitwall::gui
