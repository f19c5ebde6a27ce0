// All static sites of the process, the profiler that they record into, and which of them are on.
#pragma once

#include <string_view>

#include "db/thread_annotations.h"
#include "runtime/profiler.h"
#include "runtime/record_macros.h"

namespace pitwall {

class SiteRegistry {
 public:
  static void recordingStarted(Profiler& profiler);  // takes the sites if they are free
  static void recordingStopped(Profiler& profiler);  // and releases them
  // Across a fork(), on its thread.
  static void lockForFork() PITWALL_NO_THREAD_SAFETY_ANALYSIS;
  static void unlockAfterFork() PITWALL_NO_THREAD_SAFETY_ANALYSIS;
  static void leaveInChild();  // with the lock held

  static std::uint32_t registerSite(StaticSite& site);
  static void switchSites(std::string_view name_or_domain, bool on);
  static profiler::Ring* ring();
  static CorrelationId newCorrelation();
  static void flow(CorrelationId from, CorrelationId to);
  static void nameThread(std::string_view name);

 private:
  static void setState(StaticSite& site, bool recording);  // the registry's lock is held
};

}  // namespace pitwall
