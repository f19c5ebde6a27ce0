#include "gui/app/exports.h"

#include <QApplication>
#include <QFile>
#include <QHash>
#include <QImage>
#include <QPainter>
#include <QPixmap>
#include <QPointer>
#include <QSaveFile>
#include <QSvgGenerator>

#include "analyzer/analysis.h"
#include "analyzer/emit.h"
#include "analyzer/report_timeline.h"
#include "db/export.h"
#include "db/try.h"

namespace pitwall::gui {

namespace {

constexpr int kMostColors = 256;
constexpr int kSmallest = 0;  // of Qt's qualities of a PNG: nothing is lost, more time is taken

// The same picture, a byte a pixel, where it has so few colours.
QImage withPalette(const QImage& image) {
  QHash<QRgb, uchar> index;
  QList<QRgb> colors;
  QImage indexed(image.size(), QImage::Format_Indexed8);
  for (int y = 0; y < image.height(); ++y) {
    const auto* from = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    uchar* to = indexed.scanLine(y);
    for (int x = 0; x < image.width(); ++x) {
      if (x > 0 && from[x] == from[x - 1]) {
        to[x] = to[x - 1];
        continue;
      }
      const auto known = index.constFind(from[x]);
      if (known != index.constEnd()) {
        to[x] = *known;
        continue;
      }
      if (colors.size() == kMostColors) return image;
      to[x] = static_cast<uchar>(colors.size());
      index.insert(from[x], to[x]);
      colors.append(from[x]);
    }
  }
  indexed.setColorTable(colors);
  return indexed;
}

}  // namespace

bool savePicture(QWidget& widget, const QString& path) {
  if (!path.endsWith(".svg", Qt::CaseInsensitive))
    return withPalette(widget.grab().toImage().convertToFormat(QImage::Format_RGB32))
        .save(path, "PNG", kSmallest);
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return false;
  QSvgGenerator svg;
  svg.setOutputDevice(&file);
  svg.setSize(widget.size());
  svg.setViewBox(widget.rect());
  svg.setTitle(widget.window()->windowTitle());
  QPainter painter(&svg);
  widget.render(&painter, {}, {}, QWidget::DrawChildren | QWidget::DrawWindowBackground);
  return painter.end() && file.flush();
}

namespace {

// On the caller's thread, which is that of `owner`.
void callBack(const QPointer<QObject>& owner, std::function<void()> done) {
  QMetaObject::invokeMethod(
      qApp,
      [owner, done = std::move(done)] {
        if (owner) done();
      },
      Qt::QueuedConnection);
}

Result<std::string> reportPage(Trace& trace, const AnalyzeOptions& options) {
  const Report report = PITWALL_TRY(analyzeTrace(trace, options));
  const ReportTimeline timeline = PITWALL_TRY(reportTimeline(trace, report));
  return reportAsHtml(report, {}, timeline);
}

}  // namespace

void exportRange(TraceSession& session, const TimeRange& range, const QString& path, QObject* owner,
                 std::function<void(const QString& error, qlonglong events)> done) {
  const QPointer<QObject> alive(owner);
  session.ask([range, path, alive, done = std::move(done)](Trace& trace) {
    ExportOptions options;
    options.format = ExportFormat::pitwall;
    options.range = ExportRange{range.from, range.to};
    const auto summary = exportTrace(trace, path.toStdString(), options);
    const QString error = summary.has_value() ? QString() : QString::fromStdString(summary.error().message);
    const qlonglong events = summary.has_value() ? summary->events : 0;
    callBack(alive, [done, error, events] { done(error, events); });
  });
}

void exportReport(TraceSession& session, const QString& path, QObject* owner,
                  std::function<void(const QString& error)> done) {
  const QPointer<QObject> alive(owner);
  session.ask([path, alive, leaving = session.leaving(), done = std::move(done)](Trace& trace) {
    AnalyzeOptions options;
    options.cancel = leaving.get();
    const auto page = reportPage(trace, options);
    if (!page.has_value())
      return callBack(alive, [done, error = QString::fromStdString(page.error().message)] { done(error); });
    QSaveFile file(path);
    const auto size = static_cast<qint64>(page->size());
    const bool written =
        file.open(QIODevice::WriteOnly) && file.write(page->data(), size) == size && file.commit();
    const QString error = QString("%1: the report cannot be written: %2").arg(path, file.errorString());
    callBack(alive, [done, error = written ? QString() : error] { done(error); });
  });
}

}  // namespace pitwall::gui
