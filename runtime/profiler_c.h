/* The recorder for C programs: target pitwall::profiler_c. See runtime/record_macros.h and docs/profiler.md.
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

/* Records into a trace file until pitwall_stop(). 0, or -1 and pitwall_last_error() says why. */
int pitwall_start(const char* trace_path);
int pitwall_start_with(const char* trace_path, enum pitwall_policy when_full, int64_t ring_bytes);
/* Finishes the trace. 0, or -1 when it is not whole. */
int pitwall_stop(void);
/* Of the calling thread; "" when there was none. */
const char* pitwall_last_error(void);

/* The scope's start; 0 when nothing is recorded. What was begun must end, on the same thread, inner first. */
uint64_t pitwall_scope_begin(struct pitwall_site* site);
void pitwall_scope_end(struct pitwall_site* site, uint64_t scope);
void pitwall_scope_end_value(struct pitwall_site* site, uint64_t scope, int64_t value);
void pitwall_instant(struct pitwall_site* site, int64_t value);
/* The unit follows a bar in the site's name: "queue|items". */
void pitwall_counter(struct pitwall_site* site, double value);
void pitwall_name_thread(const char* name);
/* Sites of this name or domain, or all ("*"), off (0) or on. */
void pitwall_switch_sites(const char* name_or_domain, int on);

#ifdef __cplusplus
}
#endif
