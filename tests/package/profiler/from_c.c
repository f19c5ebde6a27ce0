/* A C program that records. */
#include "runtime/profiler_c.h"

int recordFromC(const char* path);

int recordFromC(const char* path) {
  static struct pitwall_site outer = PITWALL_SITE_IN("outer", "c"), inner = PITWALL_SITE("inner"),
                             queue = PITWALL_SITE("queue|items");
  if (pitwall_start(path) != 0) return -1;
  uint64_t scope = pitwall_scope_begin(&outer);
  for (int i = 0; i < 3; ++i) {
    uint64_t in = pitwall_scope_begin(&inner);
    pitwall_scope_end_value(&inner, in, i);
  }
  pitwall_counter(&queue, 2);
  pitwall_scope_end(&outer, scope);
  return pitwall_stop();
}
