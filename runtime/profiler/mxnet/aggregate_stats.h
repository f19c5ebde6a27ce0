// The statistics of dumps(): one entry per category and name, printed in the format of MXNet 1.9.1.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "runtime/mxnet_profiler.h"

namespace pitwall::mxnet {

class AggregateStats {
 public:
  struct Entry {
    void addDuration(std::int64_t ns);
    void addSample(double value);

    bool is_counter = false;
    std::int64_t count = 0;
    // Durations in us; of a counter the last value, the least and the greatest.
    double total = 0, min = std::numeric_limits<double>::max(), max = std::numeric_limits<double>::lowest();
    double avg() const;
    double key(SortBy by) const;
  };
  // The reference is valid until clear().
  Entry& entry(const std::string& category, const std::string& name) { return categories_[category][name]; }
  void addDuration(const std::string& category, const std::string& name, std::int64_t ns) {
    entry(category, name).addDuration(ns);
  }
  void addSample(const std::string& category, const std::string& name, double value) {
    entry(category, name).addSample(value);
  }
  void addMarker(const std::string& category) { categories_[category]; }  // a section without rows

  void clear() { categories_.clear(); }
  std::string print(const DumpsOptions& options) const;

 private:
  using Entries = std::map<std::string, Entry>;
  using Row = std::pair<const std::string*, const Entry*>;

  static std::vector<Row> sorted(const Entries& entries, const DumpsOptions& options);
  std::string table(const DumpsOptions& options) const;
  std::string json(const DumpsOptions& options) const;

  std::map<std::string, Entries> categories_;
};

}  // namespace pitwall::mxnet
