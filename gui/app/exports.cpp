#include "gui/app/exports.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QPointer>
#include <QSvgGenerator>

#include "db/export.h"

namespace pitwall::gui {

bool savePicture(QWidget& widget, const QString& path) {
  if (!path.endsWith(".svg", Qt::CaseInsensitive)) return widget.grab().save(path, "PNG");
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
    QMetaObject::invokeMethod(
        qApp,
        [alive, done, error, events] {
          if (alive) done(error, events);
        },
        Qt::QueuedConnection);
  });
}

}  // namespace pitwall::gui
