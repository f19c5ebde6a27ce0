#include "gui/app/command_line.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <cstring>

#include "db/try.h"
#include "gui/app/manual.h"

namespace pitwall::gui {
namespace {

// The value of --NAME VALUE or --NAME=VALUE; empty when it is not there.
QByteArray valueOf(int argc, char** argv, const QByteArray& name) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray argument = argv[i];
    if (argument == name && i + 1 < argc) return argv[i + 1];
    if (argument.startsWith(name + '=')) return argument.mid(name.size() + 1);
  }
  return {};
}

auto wrong(const QString& what) { return fail(ErrorCode::invalidInput, what.toStdString()); }

std::optional<QSize> sizeOf(const QString& text) {
  const QStringList parts = text.toLower().split('x');
  if (parts.size() != 2) return std::nullopt;
  const QSize size(parts[0].toInt(), parts[1].toInt());
  const bool sane =
      size.width() >= 200 && size.height() >= 150 && size.width() <= 16384 && size.height() <= 16384;
  return sane ? std::optional(size) : std::nullopt;
}

}  // namespace

bool prepareEnvironment(int argc, char** argv, QString& what) {
  const QByteArray scale = valueOf(argc, argv, "--scale");
  if (!scale.isEmpty()) {
    bool number = false;
    const double factor = scale.toDouble(&number);
    if (!number || factor < 0.5 || factor > 8) {
      what = QStringLiteral("--scale %1: expected a number from 0.5 to 8").arg(QString::fromLocal8Bit(scale));
      return false;
    }
    qputenv("QT_SCALE_FACTOR", scale);
  }
  const bool chosen =
      !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") || !valueOf(argc, argv, "-platform").isEmpty();
  const bool display =
      !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
  if (chosen || display) return true;
  bool window = true;
  for (int i = 1; i < argc; ++i) {
    for (const char* quiet : {"--export", "--help", "-h", "--version", "-v"})
      window = window && std::strncmp(argv[i], quiet, std::strlen(quiet)) != 0;
  }
  if (!window) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return true;
  }
  what = QStringLiteral(
      "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. Over SSH, use ssh -X; for a picture "
      "without a "
      "display, --export FILE.png; for text, pitwall analyze");
  return false;
}

Result<CommandLine> parseCommandLine(const QStringList& arguments, const QString& version) {
  QCommandLineParser parser;
  const manual::Command& declared = viewerManual();
  parser.setApplicationDescription(QString::fromStdString(declared.summary) +
                                   ". Two traces are compared, of more the viewer asks.");
  const QCommandLineOption help = parser.addHelpOption();
  const QCommandLineOption show_version = parser.addVersionOption();
  parser.addPositionalArgument("files", QString::fromStdString(declared.arguments.front().meaning),
                               "[FILE...]");
  for (const manual::Option& option : declared.options) {
    parser.addOption(QCommandLineOption(QString::fromStdString(option.names.front()).mid(2),
                                        QString::fromStdString(option.meaning),
                                        QString::fromStdString(option.value.placeholder)));
  }
  if (!parser.parse(arguments)) return wrong(parser.errorText());

  CommandLine line;
  if (parser.isSet(help)) line.remark = parser.helpText();
  if (parser.isSet(show_version)) line.remark = "pitwall-gui " + version + "\n";
  line.files = parser.positionalArguments();
  line.merge = parser.isSet("merge");
  line.export_to = parser.value("export");
  if (line.files.size() > 2 && !line.merge && parser.isSet("export"))
    return wrong(
        "--export writes a picture of one trace or of two that are compared; --merge shows more as one "
        "timeline");
  if (parser.isSet("export")) {
    const QString suffix = QFileInfo(line.export_to).suffix().toLower();
    if (!QStringList{"png", "svg", "csv", "json"}.contains(suffix))
      return wrong("--export " + line.export_to + ": the name must end in .png, .svg, .csv or .json");
    if (line.files.isEmpty() && (suffix == "csv" || suffix == "json"))
      return wrong("--export " + line.export_to + " needs a trace");
    if (suffix == "csv" && parser.isSet("select"))
      return wrong("--select: a .csv file cannot hold an event; use .json");
  }
  if (parser.isSet("range")) {
    line.range = PITWALL_TRY(parseExportRange(parser.value("range").toStdString()));
  }
  line.select = parser.value("select");
  line.page = parser.value("page");
  line.simulate = parser.value("simulate");
  if (!line.simulate.isEmpty() && line.files.size() != 1 && !line.merge)
    return wrong("--simulate needs one trace, or several with --merge");
  line.color_blind = parser.isSet("color-blind");
  if (parser.isSet("theme")) {
    line.theme = themeNamed(parser.value("theme"));
    if (!line.theme) return wrong("--theme " + parser.value("theme") + ": expected system, light or dark");
  }
  if (parser.isSet("size")) {
    const auto parsed = sizeOf(parser.value("size"));
    if (!parsed) return wrong("--size " + parser.value("size") + ": expected width and height, as 1920x1080");
    line.size = *parsed;
  }
  return line;
}

}  // namespace pitwall::gui
