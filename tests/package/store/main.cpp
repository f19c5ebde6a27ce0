// Writes a trace and reads it back, with nothing but the installed package.
#include <cstdio>

#include "db/reader.h"
#include "db/store.h"

int main() {
  auto sink = pitwall::createTrace("stranger.pitwall");
  if (!sink.has_value()) return std::fprintf(stderr, "%s\n", sink.error().message.c_str()), 1;
  const auto process = sink.value()->process({.pid = 1, .name = "stranger"});
  const auto thread = sink.value()->thread({.process = process, .tid = 1, .name = "main"});
  const auto track = sink.value()->track({.process = process, .thread = thread, .name = "main"});
  const pitwall::Event event{.start_ns = 10, .dur_ns = 5, .name = sink.value()->string("work")};
  sink.value()->events(track, {&event, 1});
  if (const auto done = sink.value()->finish(); !done.has_value())
    return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;

  auto trace = pitwall::Trace::open("stranger.pitwall");
  if (!trace.has_value()) return std::fprintf(stderr, "%s\n", trace.error().message.c_str()), 1;
  const auto events = trace.value()->events(track);
  if (!events.has_value() || events->size() != 1 || (*events)[0].dur_ns != 5) return 1;
  std::printf("store: one event written and read\n");
  return 0;
}
