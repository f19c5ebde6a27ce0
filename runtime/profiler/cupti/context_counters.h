// CUPTI's range profiler of one context: counts in hardware while one kernel runs, in the order of calls that CUPTI
// documents (enable, size and initialise the data, configure; for each kernel start, stop, decode, evaluate, initialise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/profiler/cupti/counter_choice.h"

namespace pitwall::cupti {

// Used by one thread at a time, within callbacks of CUPTI.
class ContextCounters {
 public:
  ContextCounters(const CounterFunctions& cupti, CUcontext context, std::uint32_t device)
      : cupti_(cupti), context_(context), device_(device), choice_(cupti) {}

  // Before the first start().
  CUptiResult open();
  CUptiResult start();
  // Ranges are kernels; `values` are those of the first one, in the order of names().
  CUptiResult stop(std::size_t& ranges, std::vector<double>& values);
  void close();

  std::uint32_t device() const { return device_; }
  std::span<const char* const> names() const { return choice_.names(); }

 private:
  CUptiResult chooseCounters();
  CUptiResult readAvailability(std::vector<std::uint8_t>& image);
  CUptiResult configure();
  CUptiResult initializeData();

  const CounterFunctions& cupti_;
  const CUcontext context_;
  const std::uint32_t device_;
  CounterChoice choice_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> data_;
};

}  // namespace pitwall::cupti
