// Whether CUPTI records migrations of pages and page faults of unified memory, and why not.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "runtime/profiler/cupti/library.h"

namespace pitwall::cupti {

// Any thread may call each function; none holds a lock while it calls CUPTI.
class UnifiedMemory {
 public:
  explicit UnifiedMemory(const Library& library) : library_(library) {}

  // Enables the records. CUPTI takes them only from an initialised driver: where it refuses, `subscriber` is called when the
  // driver is (CUPTI_CBID_RESOURCE_CU_INIT_FINISHED), and is to call onDriverReady().
  void begin(CUpti_SubscriberHandle subscriber);
  void onDriverReady();
  // Disables them, also those that onDriverReady() is just enabling.
  void end();

  // Why there are no records, as a sentence for the user; "" = there are.
  std::string note() const;

 private:
  CUptiResult enable();
  void settle(CUptiResult result);

  const Library& library_;
  enum class State : std::uint8_t { off, waiting, enabling, on };
  std::atomic<State> state_{State::off};
  std::atomic<CUptiResult> result_{CUPTI_SUCCESS};
};

}  // namespace pitwall::cupti
