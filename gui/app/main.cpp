// pitwall-gui [FILE...]: start, window or export, exit codes.
#include <QApplication>
#include <QIcon>
#include <QSettings>
#include <cstdio>

#include "gui/app/headless.h"
#include "gui/app/main_window.h"
#include "gui/app/signals.h"

namespace {

constexpr int kUsage = 2;
constexpr int kSignalled = 128;

int reportError(const QString& what) {
  std::fprintf(stderr, "pitwall-gui: %s\n", qPrintable(what));
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pitwall::gui;
  QString what;
  if (!prepareEnvironment(argc, argv, what)) return reportError(what);
  QApplication app(argc, argv);
  QApplication::setApplicationName("pitwall-gui");
  QApplication::setOrganizationName("pitwall");
  QApplication::setApplicationVersion(PITWALL_VERSION);
  QApplication::setDesktopFileName("org.pitwall.viewer");
  QApplication::setWindowIcon(QIcon::fromTheme("org.pitwall.viewer", QIcon(":/org.pitwall.viewer-128.png")));

  const auto line = parseCommandLine(QApplication::arguments(), PITWALL_VERSION);
  if (!line.has_value()) return reportError(QString::fromStdString(line.error().message));
  if (!line->remark.isEmpty()) {
    std::fputs(qPrintable(line->remark), stdout);
    return 0;
  }
  const auto saved = themeNamed(QSettings().value("theme").toString());
  // A picture is the same on every machine.
  applyTheme(line->theme.value_or(line->export_to.isEmpty() ? saved.value_or(Theme::system) : Theme::light));
  quitOnSignals();
  if (!line->export_to.isEmpty()) {
    const int code = exportAndExit(*line);
    return signalReceived() != 0 ? kSignalled + signalReceived() : code;
  }
  if (line->theme) QSettings().setValue("theme", nameOf(*line->theme));  // as the menu does

  MainWindow window;
  if (line->size.isValid()) window.resize(line->size);
  window.show();
  if (line->merge && line->files.size() > 1) {
    window.openMerged(line->files);
  } else if (line->files.size() == 2) {
    window.compareAll(line->files);
  } else {
    window.openFiles(line->files);
  }
  QObject::connect(
      &window, &MainWindow::analysisShown, &window,
      [&window, &line] {
        const QString wrong = applyToWindow(window, *line);
        if (!wrong.isEmpty()) reportError(wrong);
      },
      Qt::SingleShotConnection);
  const int code = QApplication::exec();
  window.close();  // saves the view and the notes, however it ends
  return signalReceived() != 0 ? kSignalled + signalReceived() : code;
}
