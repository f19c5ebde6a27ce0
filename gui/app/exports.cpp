#include "gui/app/exports.h"

#include <QApplication>
#include <QFile>
#include <QHash>
#include <QImage>
#include <QPainter>
#include <QPixmap>
#include <QPointer>
#include <QSvgGenerator>

#include "db/export.h"

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
