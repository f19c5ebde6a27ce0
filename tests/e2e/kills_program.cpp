// A program that is killed: records a zone and then prints its number, in two threads, without end. The first line is its
// process id. The zone's record is committed when its number is printed.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "runtime/profiler_c.h"

namespace {

// One write() for a line: the output is opened for appending.
void say(const char* what, long number) {
  char line[64];
  const int length = std::snprintf(line, sizeof line, "%s %ld\n", what, number);
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) _exit(4);
}

void work(pitwall_site& site) {
  for (long i = 1;; ++i) {
    const std::uint64_t scope = pitwall_scope_begin(&site);
    pitwall_scope_end_value(&site, scope, i);
    say(site.name, i);
    if (i % 8 == 0) usleep(100);  // far from what the recorder can take, so that none may be lost
  }
}

}  // namespace

int main() {
  alarm(60);  // for the case that it is not killed
  say("pid", getpid());
  if (pitwall_start("unnamed.pitwall") != 0) {
    std::fprintf(stderr, "%s\n", pitwall_last_error());
    return 3;
  }
  static pitwall_site first = PITWALL_SITE("first"), second = PITWALL_SITE("second");
  std::thread other([] { work(second); });
  work(first);
}
