// pitwall-gui [FILE]: arguments and exit codes only.
#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>
#include <cstdio>

#include "gui/app/main_window.h"

namespace {

// Shows the trace as it would be on a screen and saves the picture: for reports and for tests without a
// display.
int exportPicture(pitwall::gui::MainWindow& window, const QString& path) {
  using pitwall::gui::MainWindow;
  int code = 1;
  QObject::connect(&window, &MainWindow::analysisShown, &window, [&] {
    QTimer::singleShot(0, &window, [&] {
      code = window.grab().save(path) ? 0 : 2;
      if (code != 0) std::fprintf(stderr, "pitwall-gui: %s cannot be written\n", qPrintable(path));
      QApplication::exit(code);
    });
  });
  QObject::connect(&window, &MainWindow::loadFailed, &window, [](const QString& what) {
    std::fprintf(stderr, "pitwall-gui: %s\n", qPrintable(what));
    QApplication::exit(3);
  });
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  QApplication::setApplicationName("pitwall-gui");
  QApplication::setOrganizationName("pitwall");
  QApplication::setApplicationVersion(PITWALL_VERSION);
  QApplication::setDesktopFileName("org.pitwall.viewer");

  QCommandLineParser parser;
  parser.setApplicationDescription("Shows a trace: timeline, findings, recommended settings.");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("file", "A .pitwall trace, or a trace of another tool.", "[FILE]");
  const QCommandLineOption picture("export", "Save a picture of the window as PNG and exit.", "FILE.png");
  parser.addOption(picture);
  parser.process(app);

  pitwall::gui::MainWindow window;
  window.show();
  const QStringList files = parser.positionalArguments();
  if (parser.isSet(picture) && files.isEmpty()) {
    std::fprintf(stderr, "pitwall-gui: --export needs a trace to show\n");
    return 2;
  }
  if (!files.isEmpty()) window.open(files.first());
  return parser.isSet(picture) ? exportPicture(window, parser.value(picture)) : QApplication::exec();
}
