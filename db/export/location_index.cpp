#include "db/export/location_index.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <tuple>
#include <utility>

#include "db/export/output_file.h"
#include "db/temporary.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall::exporting {

namespace {

constexpr std::size_t kPending = std::size_t{1} << 15;

bool before(const Location& a, const Location& b) {
  return std::tie(a.correlation, a.start_ns, a.row) < std::tie(b.correlation, b.start_ns, b.row);
}

}  // namespace

Result<LocationIndex> LocationIndex::create() {
  return LocationIndex(PITWALL_TRY(openUnnamedFile("the launches of the export")));
}

LocationIndex::LocationIndex(LocationIndex&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      error_(other.error_),
      count_(other.count_),
      pending_(std::move(other.pending_)),
      sorted_(std::exchange(other.sorted_, nullptr)) {}

LocationIndex::~LocationIndex() {
  if (sorted_ != nullptr) ::munmap(sorted_, count_ * sizeof(Location));
  if (file_ >= 0) ::close(file_);
}

void LocationIndex::write() {
  const std::string_view bytes(reinterpret_cast<const char*>(pending_.data()),
                               pending_.size() * sizeof(Location));
  if (error_ == 0) error_ = writeAll(file_, bytes);
  pending_.clear();
}

void LocationIndex::add(const Location& location) {
  pending_.push_back(location);
  ++count_;
  if (pending_.size() >= kPending) write();
}

Status LocationIndex::seal() {
  write();
  if (error_ != 0) return cannotWrite("a file in the system's temporary folder", error_);
  if (count_ == 0) return {};
  void* mapped = ::mmap(nullptr, count_ * sizeof(Location), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) return cannotWrite("a file in the system's temporary folder", errno);
  sorted_ = static_cast<Location*>(mapped);
  std::sort(sorted_, sorted_ + count_, before);
  return {};
}

std::optional<Location> LocationIndex::find(CorrelationId correlation) const {
  if (sorted_ == nullptr) return std::nullopt;
  const Location* end = sorted_ + count_;
  const Location* found = std::lower_bound(
      static_cast<const Location*>(sorted_), end, correlation,
      [](const Location& location, CorrelationId wanted) { return location.correlation < wanted; });
  return found != end && found->correlation == correlation ? std::optional(*found) : std::nullopt;
}

}  // namespace pitwall::exporting
