// Removes oneDNN's verbose lines from a program's output and forwards all other bytes.
//
// A verbose line begins with a marker ("onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,") followed by the
// text that oneDNN writes there, anywhere in the stream: the program may have printed an incomplete line
// before. It ends with its newline, which is removed too, so that the remaining output is that of the program
// alone.
//
// Only the last bytes of a piece that may be the beginning of a marker are held back: at most 18, until the
// next piece or flush(). State machine; no system calls.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::record {

class VerboseFilter {
 public:
  // `leave`: verbose lines are forwarded, too, since the user has enabled them.
  explicit VerboseFilter(bool leave = false) : leave_(leave) {}

  // Appends forwarded output to `passed` and complete verbose lines with newlines to `lines`.
  void take(std::string_view bytes, std::string& passed, std::string& lines);
  // The next piece is late: forwards the held bytes now. A marker that continues afterwards is not
  // recognised. A verbose line that has begun is still removed.
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
