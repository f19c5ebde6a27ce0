/* Records from a project that knows no C++. */
#include <stdio.h>
#include <string.h>

#include "runtime/profiler_c.h"

static int fails(const char* what) {
  fprintf(stderr, "%s: %s\n", what, pitwall_last_error());
  return 1;
}

int main(void) {
  static struct pitwall_site work = PITWALL_SITE_IN("work", "c");
  char first_bytes[16] = "";
  FILE* trace;
  int i;
  if (pitwall_stop() == 0 || strlen(pitwall_last_error()) == 0) return fails("pitwall_stop() without a start");
  if (pitwall_start("c.pitwall") != 0) return fails("pitwall_start");
  if (!pitwall_is_recording()) return fails("pitwall_is_recording");
  for (i = 0; i < (int)pitwall_tunable("steps", 4, 1, 100); ++i) {
    uint64_t scope = pitwall_scope_begin(&work);
    pitwall_scope_end_value(&work, scope, i);
    pitwall_iteration(32);
  }
  if (pitwall_stop() != 0) return fails("pitwall_stop");
  trace = fopen("c.pitwall", "rb");
  if (trace == NULL || fread(first_bytes, 1, 15, trace) != 15 || strcmp(first_bytes, "SQLite format 3") != 0)
    return fails("the trace");
  fclose(trace);
  printf("c: recorded from C\n");
  return 0;
}
