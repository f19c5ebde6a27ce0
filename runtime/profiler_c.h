/* The recorder for C programs, and for bindings of other languages: the shared library pitwall::c (libpitwall.so), or the
 * static pitwall::profiler_c. See docs/profiler.md.
 *
 *   pitwall_start("run.pitwall");
 *   static struct pitwall_site site = PITWALL_SITE("parse");
 *   uint64_t scope = pitwall_scope_begin(&site);
 *   ...
 *   pitwall_scope_end(&site, scope);
 *   pitwall_stop();
 *
 * Names are string literals, or stay as long as the program. Every function from any thread. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place that records. Static, and initialised by PITWALL_SITE or PITWALL_SITE_IN. */
struct pitwall_site {
  const char* name;
  const char* domain;
  void* handle;
};
#define PITWALL_SITE(name) \
  { name, "", 0 }
#define PITWALL_SITE_IN(name, domain) \
  { name, domain, 0 }

enum pitwall_policy { PITWALL_DROP = 0, PITWALL_BLOCK = 1, PITWALL_OVERWRITE = 2 };

/* Records into a trace file until pitwall_stop(). 0, or -1 and pitwall_last_error() says why.
 * With the shared library, in a process that `pitwall record` started (PITWALL_TRACE is set), what follows becomes part of
 * that recording: `trace_path` is not used and may be 0, calls may be repeated, and a forked child calls it again. */
int pitwall_start(const char* trace_path);
int pitwall_start_with(const char* trace_path, enum pitwall_policy when_full, int64_t ring_bytes);
/* Finishes the trace; of a recording by `pitwall record`, writes what is recorded so far. 0, or -1 when it is not whole. */
int pitwall_stop(void);
int pitwall_is_recording(void);
/* Of the calling thread; "" when there was none. */
const char* pitwall_last_error(void);

/* The scope's start; 0 when nothing is recorded. What was begun must end, on the same thread, inner first. */
uint64_t pitwall_scope_begin(struct pitwall_site* site);
void pitwall_scope_end(struct pitwall_site* site, uint64_t scope);
void pitwall_scope_end_value(struct pitwall_site* site, uint64_t scope, int64_t value);
void pitwall_instant(struct pitwall_site* site, int64_t value);
/* The unit follows a bar in the site's name: "queue|items". */
void pitwall_counter(struct pitwall_site* site, double value);
/* An iteration of `items` samples (0: unknown) begins, and the one before it ends. */
void pitwall_iteration(int64_t items);
/* Declares a number that the program chooses, and returns it: `value`, or PITWALL_TUNE_<name> of the environment if that is
 * from `minimum` to `maximum`. */
int64_t pitwall_tunable(const char* name, int64_t value, int64_t minimum, int64_t maximum);
void pitwall_name_thread(const char* name);
/* A site whose name is known only at run time. It lives as long as the program: make one for each name. Never 0. */
struct pitwall_site* pitwall_make_site(const char* name, const char* domain);
/* Sites of this name or domain, or all ("*"), off (0) or on. */
void pitwall_switch_sites(const char* name_or_domain, int on);

#ifdef __cplusplus
}
#endif
