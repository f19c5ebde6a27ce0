#include "gui/app/manual.h"

namespace pitwall::gui {
namespace {

using manual::Option;
using manual::Value;

Value value(const char* placeholder, std::vector<std::string> choices = {}) {
  Value made;
  made.placeholder = placeholder;
  made.choices = std::move(choices);
  if (made.placeholder == "FILE") made.kind = Value::Kind::file;
  return made;
}

std::vector<Option> options() {
  return {
      {{"--export"},
       value("FILE"),
       "Write FILE and exit, with or without a display: .png or .svg, a picture of the window; .csv or "
       ".json, sums "
       "by name, or what changed between two traces."},
      {{"--range"}, value("A..B"), "Show and select this time range: 1.5s..2s, 20ms.. or ..7us."},
      {{"--select"}, value("NAME|ID"), "Select an event: the first of that name, or the one with that id."},
      {{"--page"}, value("PAGE"), "Show this page first: timeline, compare, ... (the menu Go)."},
      {{"--simulate"},
       value("CHANGES"),
       "Show what an iteration takes after these changes, with the simulated timeline: 'workers=4 "
       "data_wait=0', as "
       "pitwall simulate --what takes them."},
      {{"--theme"}, value("THEME", {"system", "light", "dark"}), "Colours: system, light or dark."},
      {{"--merge"}, {}, "Show all files as one timeline, on a common clock, instead of comparing them."},
      {{"--color-blind"}, {}, "Events in colours that can be distinguished with any colour vision."},
      {{"--scale"}, value("FACTOR"), "Everything larger by this factor."},
      {{"--size"}, value("WxH"), "Size of the window, as 1920x1080."},
  };
}

manual::Text text() {
  manual::Text text;
  text.usage = {"pitwall-gui [OPTIONS] [FILE...]"};
  text.notes = {
      "Two traces are compared; of more the viewer asks whether they are one timeline or a comparison. With "
      "--export no display is needed."};
  text.exit_codes = {{"0", "done"},
                     {"2", "wrong arguments, no display, or a file that cannot be written"},
                     {"3", "--export: a trace cannot be read; a picture shows the message"},
                     {"128 + N", "ended by signal N; temporary folders are removed"}};
  text.environment = {{"DISPLAY, WAYLAND_DISPLAY", "Where the window is shown."},
                      {"QT_QPA_PLATFORM", "Qt's way to show it: 'offscreen' needs no display."},
                      {"TMPDIR", "The folder for copies of other tools' traces."}};
  text.files = {{"~/.config/pitwall/pitwall-gui.conf", "The theme and what else the viewer remembers."},
                {"~/.local/share/pitwall/pitwall-gui/traces", "Notes and the last view, by trace."},
                {"~/.cache/pitwall", "Timelines of traces that were opened, to open them faster."}};
  text.examples = {
      {"pitwall-gui run.pitwall", "Show a trace."},
      {"pitwall-gui before.pitwall after.pitwall", "Compare two."},
      {"pitwall-gui --merge rank*.json.gz", "Show all ranks of a job as one timeline."},
      {"pitwall-gui --simulate data_wait=0 run.pitwall", "Show it without its waits for batches."},
      {"pitwall-gui --export run.png --range 1s..2s run.pitwall", "A picture of one second."}};
  return text;
}

}  // namespace

const manual::Command& viewerManual() {
  static const manual::Command command = [] {
    manual::Command made;
    made.name = "pitwall-gui";
    made.summary = "Shows a trace: timeline, findings, recommended settings";
    made.text = text();
    made.options = options();
    Option files;
    files.value = value("FILE");
    files.value.repeated = true;
    files.meaning = "A .pitwall trace, or a trace of another tool; two or more to compare, or to merge.";
    made.arguments = {files};
    return made;
  }();
  return command;
}

}  // namespace pitwall::gui
