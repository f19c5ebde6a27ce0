#include "analyzer/cli/progress_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "analyzer/cli/print.h"

namespace pitwall::cli {

bool ProgressLine::isWanted() { return ::isatty(STDERR_FILENO) != 0; }

void ProgressLine::show(const std::string& what, std::int64_t done, std::int64_t total) {
  const auto now = Clock::now();
  if (what_ != what) {
    what_ = what;
    begin_ = now;
  }
  if (!isWanted() || now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double left = share > 0 ? seconds / share - seconds : 0;
  printNote("\r[{:<30}] {:3.0f} %  {:.0f} {}  {:.0f} s left ",
            std::string(static_cast<std::size_t>(share * 30), '#'), share * 100,
            seconds > 0 ? static_cast<double>(done) / unit_ / seconds : 0, per_second_, left);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) printNote("\r{:70}\r", "");
  drawn_ = false;
}

}  // namespace pitwall::cli
