// Maps the correlation of each execution to the time and row where it is drawn. Stored in an unnamed
// temporary file, so that arrows of a trace larger than memory find their ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/ids.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall::exporting {

struct Location {
  CorrelationId correlation = 0;
  TimeNs start_ns = 0;
  std::uint32_t row = 0;  // the caller's number
};

class LocationIndex {
 public:
  // Errors: io when the system's temporary folder cannot be written.
  static Result<LocationIndex> create();
  LocationIndex(LocationIndex&& other) noexcept;
  LocationIndex& operator=(LocationIndex&&) = delete;
  ~LocationIndex();

  void add(const Location& location);
  // After the last add(): makes it searchable. Errors: io (disk full).
  Status seal();
  // The earliest of that correlation.
  std::optional<Location> find(CorrelationId correlation) const;

 private:
  explicit LocationIndex(int file) : file_(file) {}
  void write();

  int file_;
  int error_ = 0;
  std::size_t count_ = 0;
  std::vector<Location> pending_;
  Location* sorted_ = nullptr;  // mapped
};

}  // namespace pitwall::exporting
