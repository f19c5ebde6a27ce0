// The hardware counters that are recorded of a chip's kernels: as many of the wanted ones as one pass measures, since
// a kernel would have to be repeated for a second pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/profiler/cupti/counter_functions.h"

namespace pitwall::cupti {

class CounterChoice {
 public:
  explicit CounterChoice(const CounterFunctions& cupti) : cupti_(cupti) {}
  ~CounterChoice();
  CounterChoice(const CounterChoice&) = delete;
  CounterChoice& operator=(const CounterChoice&) = delete;

  // Once. `chip` as CUPTI names it ("GH100"); `availability` is that of a context, empty = all counters of the chip.
  CUptiResult choose(const std::string& chip, std::span<const std::uint8_t> availability);

  // After choose(): CUPTI's names, the first is the achieved occupancy in percent.
  std::span<const char* const> names() const { return names_; }
  std::span<const std::uint8_t> configImage() const { return image_; }

  // The values of a range in the order of names().
  CUptiResult evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                       std::vector<double>& values) const;

 private:
  CUptiResult configure(const std::string& chip, std::span<const std::uint8_t> availability,
                        bool& is_one_pass);
  void close();

  const CounterFunctions& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<const char*> names_;
  std::vector<std::uint8_t> image_;
};

}  // namespace pitwall::cupti
