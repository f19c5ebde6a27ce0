// Which device of a job holds which key: the keys in order of size, each on the device with the fewest elements so far.
#pragma once

#include <vector>

#include "runtime/kvstore/entry.h"

namespace pitwall::kvstore {

class Homes {
 public:
  void added(Entry& entry) { waiting_.push_back(&entry); }
  // The keys that were added since are spread over the devices of the values.
  Device of(Entry& entry, std::span<const Value> values);

 private:
  struct Load {
    Device device;
    std::int64_t elements = 0;
  };
  Load& lightest(std::span<const Value> values);
  std::vector<Entry*> waiting_;
  std::vector<Load> loads_;
};

}  // namespace pitwall::kvstore
