// Recording with one-line macros, anywhere in a program:
//
//   PITWALL_SCOPE("parse");                        the enclosing block, as a span
//   PITWALL_SCOPE_IN("decode", "input");           in a domain
//   PITWALL_INSTANT("epoch");                      a point in time
//   PITWALL_INSTANT_VALUE("epoch", 3);
//   PITWALL_COUNTER("queue|items", 17);            a sample; the unit follows the bar
//   PITWALL_THREAD("decoder 2");                   names the calling thread
//
// Names are string literals. They record into the profiler that was started first among those that are
// recording; while none is, a site costs a load and a predicted branch. Sites can be switched off and on at
// run time by name or domain (switchSites), also before they are reached for the first time.
//
// A shared library with such sites must stay loaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "db/event.h"
#include "runtime/ring_writer.h"

namespace pitwall {

class Arguments;
class Profiler;

// A recording site in the program. Static and constant-initialised: access needs no guard.
class StaticSite {
 public:
  constexpr explicit StaticSite(const char* name, EventKind kind = EventKind::scope, const char* domain = "")
      : name_(name), domain_(domain), kind_(kind) {}
  StaticSite(const StaticSite&) = delete;
  StaticSite& operator=(const StaticSite&) = delete;

  // Its number in the recording profiler, 0 while it is off. The first call registers it.
  std::uint32_t number() {
    const std::uint32_t state = state_.load(std::memory_order_relaxed);
    return state == kUnregistered ? registerSite() : state;
  }
  // 0 while it is off; else call number().
  std::uint32_t state() const { return state_.load(std::memory_order_relaxed); }

 private:
  friend class SiteRegistry;
  static constexpr std::uint32_t kUnregistered = 0xffffffff;
  std::uint32_t registerSite();

  std::atomic<std::uint32_t> state_{kUnregistered};
  const char* const name_;
  const char* const domain_;
  const EventKind kind_;
};

// Switches every site of this name, or of this domain, or all ("*"); also sites that are reached later. The
// last call that names a site wins. Any thread.
void switchSites(std::string_view name_or_domain, bool on);

namespace profiler {

// The profiler that static sites record into; 0 = none records.
extern std::atomic<std::uint64_t> g_site_owner;
Ring* ringOfSites();  // of the calling thread, created when it has none

inline Ring* siteRing() {
  const std::uint64_t owner = g_site_owner.load(std::memory_order_relaxed);
  if (t_current.owner == owner && owner != 0) [[likely]]
    return t_current.ring;
  return ringOfSites();
}

void recordInstant(StaticSite& site, std::int64_t value);
void recordCounter(StaticSite& site, double value);
void nameThreadOfSites(std::string_view name);

}  // namespace profiler

// The span of a block.
class SiteScope {
 public:
  explicit SiteScope(StaticSite& site) : number_(site.state()) {
    if (number_ != 0) [[unlikely]]
      begin(site);
  }
  ~SiteScope() {
    if (number_ != 0) [[unlikely]]
      end();
  }
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

  bool isRecording() const { return number_ != 0; }
  void setValue(std::int64_t value) { value_ = value; }

  // Arrows: flowOut() begins one at this scope; flowIn() with its number ends it at another scope.
  CorrelationId flowOut();  // 0 when not recording
  void flowIn(CorrelationId from);

 private:
  void begin(StaticSite& site) {
    number_ = site.number();
    if (number_ == 0) return;
    profiler::Ring* const ring = profiler::siteRing();
    value_ = 0;
    correlation_ = 0;
    started_ = profiler::readClock();
    profiler::open(ring, number_, started_);
  }
  void end() {
    const std::uint16_t depth = --profiler::t_current.depth;
    // If the recording has ended meanwhile, its rings are gone.
    if (profiler::g_site_owner.load(std::memory_order_relaxed) == 0) return;
    const Ticks finished = profiler::readClock();
    profiler::Ring* const ring = profiler::siteRing();
    if (ring == nullptr) return;
    const ring::Record record{started_, finished - started_,    static_cast<std::uint64_t>(value_),
                              number_,  ring::RecordKind::span, ring::kAnnounced,
                              depth};
    if (correlation_ == 0) [[likely]] {
      profiler::put(ring, record);
    } else {
      putLinked(ring, ring::Record(record), correlation_);
    }
    ring->depth.store(depth, std::memory_order_release);
  }
  // Takes copies: an object passed by reference would have to be in memory, and would be read as a whole
  // right after being written in parts.
  static void putLinked(profiler::Ring* ring, const ring::Record& record, CorrelationId correlation);

  std::uint32_t number_;  // the rest is set only when it is not 0
  Ticks started_;
  std::int64_t value_;
  CorrelationId correlation_;
};

}  // namespace pitwall

#define PITWALL_JOIN_(a, b) a##b
#define PITWALL_JOIN(a, b) PITWALL_JOIN_(a, b)

#define PITWALL_SCOPE_IN(name, domain)                                          \
  static constinit ::pitwall::StaticSite PITWALL_JOIN(pitwall_site_, __LINE__)( \
      name, ::pitwall::EventKind::scope, domain);                               \
  const ::pitwall::SiteScope PITWALL_JOIN(pitwall_scope_, __LINE__)(PITWALL_JOIN(pitwall_site_, __LINE__))

#define PITWALL_SCOPE(name) PITWALL_SCOPE_IN(name, "")

// A scope as a named variable, to set its value or draw arrows: PITWALL_NAMED_SCOPE(batch, "make batch").
#define PITWALL_NAMED_SCOPE(variable, name)                                     \
  static constinit ::pitwall::StaticSite PITWALL_JOIN(pitwall_site_, __LINE__)( \
      name, ::pitwall::EventKind::scope, "");                                   \
  ::pitwall::SiteScope variable(PITWALL_JOIN(pitwall_site_, __LINE__))

#define PITWALL_AT_SITE_(name, kind, call)                               \
  do {                                                                   \
    static constinit ::pitwall::StaticSite pitwall_site(name, kind, ""); \
    if (pitwall_site.state() != 0) [[unlikely]]                          \
      call;                                                              \
  } while (false)

#define PITWALL_INSTANT_VALUE(name, value)              \
  PITWALL_AT_SITE_(name, ::pitwall::EventKind::instant, \
                   ::pitwall::profiler::recordInstant(pitwall_site, value))
#define PITWALL_INSTANT(name) PITWALL_INSTANT_VALUE(name, 0)
#define PITWALL_COUNTER(name, value)                  \
  PITWALL_AT_SITE_(name, ::pitwall::EventKind::scope, \
                   ::pitwall::profiler::recordCounter(pitwall_site, static_cast<double>(value)))
#define PITWALL_THREAD(name) ::pitwall::profiler::nameThreadOfSites(name)
