// Sits between a program and our standard output, to remove oneDNN's verbose lines.
//
// The program gets the same kind of output as without the capture: a terminal of the same size if our output
// is a terminal (so it flushes line by line and uses colours as usual), else a pipe. If its error output goes
// to the same place, it is captured too, so that the order of lines is kept. A separate thread forwards bytes
// as they arrive.
#pragma once

#include <memory>
#include <string>

#include "db/result.h"

namespace pitwall::record {

class OutputCapture {
 public:
  // Errors: io when no pipe can be created.
  static Result<std::unique_ptr<OutputCapture>> open();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  int programEnd() const;  // becomes the program's standard output, and its error output when errorToo()
  bool errorToo() const;

  // After the program has started: closes our copy of its end and begins to forward bytes. Verbose lines are
  // appended to the file `log`, which is created with the first of them; with `leave_lines` they are
  // forwarded, too.
  void begin(std::string log, bool leave_lines);
  // Call when the terminal's size has changed.
  void resize();
  // Waits until every process that holds the program's end has closed it, or until stop().
  void wait();
  bool ended() const;
  // From now on verbose lines are dropped; all other output is still forwarded.
  void stopLogging();
  // Forwards the data received so far and ends.
  void stop();

  // A sentence when the log could not be written; else empty. After wait() or stop().
  std::string note() const;

 private:
  struct State;
  explicit OutputCapture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::record
