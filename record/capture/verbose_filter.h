// Takes oneDNN's verbose lines out of a program's output and lets every other byte pass.
//
// A verbose line begins with a marker ("onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,") followed by
// what oneDNN writes there, anywhere in the stream: a program may have printed half a line of its own before.
// It ends with its newline, which goes with it, so that what is left is what the program would have printed
// alone.
//
// Nothing is held back but the last bytes of a piece that may be the beginning of a marker: at most 18, until
// the next piece comes or, should it not come, until flush(). State machine; no system calls.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::record {

class VerboseFilter {
 public:
  // `leave`: the lines are the program's own, as its user has asked oneDNN for them: they pass, too.
  explicit VerboseFilter(bool leave = false) : leave_(leave) {}

  // Appends to `passed` what goes on to the program's output and to `lines` whole verbose lines with
  // newlines.
  void take(std::string_view bytes, std::string& passed, std::string& lines);
  // The next piece is late: what is held back passes now. A marker that goes on afterwards is not recognised.
  // A verbose line that has begun stays ours.
  void flush(std::string& passed);
  // The stream has ended: the rest of a verbose line without a newline goes to `lines`.
  void finish(std::string& passed, std::string& lines);

  bool holds() const { return !held_.empty(); }

 private:
  bool leave_;
  std::string held_;      // may be the beginning of a marker
  std::string line_;      // of a verbose line that has no newline yet
  bool in_line_ = false;  // between a marker and its newline
};

}  // namespace pitwall::record
