// Stands between a program and our standard output, to take oneDNN's verbose lines out of it.
//
// The program keeps what it would see alone: where our output is a terminal it gets a terminal of the same
// size (so it flushes line by line and colours as always), else a pipe. Where its error output goes to the
// same place, it goes the same way, so that the order of lines stays. Bytes are passed on as they come, by a
// thread of its own.
#pragma once

#include <memory>
#include <string>

#include "db/result.h"

namespace pitwall::record {

class OutputCapture {
 public:
  // Errors: io when there can be no pipe.
  static Result<std::unique_ptr<OutputCapture>> open();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  int programEnd() const;  // becomes the program's standard output, and its error output when errorToo()
  bool errorToo() const;

  // After the program has begun: closes our copy of its end and begins to pass bytes on. Verbose lines are
  // appended to the file `log`, made with the first of them; with `leave_lines` they pass, too.
  void begin(std::string log, bool leave_lines);
  // The terminal has another size.
  void resize();
  // Waits until every process that holds the program's end has closed it, or until stop().
  void wait();
  bool ended() const;
  // From now on verbose lines are dropped; what the program prints still passes.
  void stopLogging();
  // Passes on what has come and ends.
  void stop();

  // A sentence when the log could not be written; else empty. After wait() or stop().
  std::string note() const;

 private:
  struct State;
  explicit OutputCapture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::record
