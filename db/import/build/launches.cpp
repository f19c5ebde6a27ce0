#include "db/import/build/launches.h"

#include <fmt/format.h>

#include <bit>

namespace pitwall::import {
namespace {

// Sets the bit; returns whether it was not set before.
bool setBit(std::uint64_t* bits, std::uint64_t at) {
  const std::uint64_t mask = std::uint64_t{1} << (at % 64);
  const bool fresh = (bits[at / 64] & mask) == 0;
  bits[at / 64] |= mask;
  return fresh;
}

bool isSet(const std::uint64_t* bits, std::uint64_t at) { return (bits[at / 64] >> (at % 64) & 1) != 0; }

}  // namespace

Launches::Page* Launches::pageOf(std::uint64_t key) {
  const std::uint64_t number = key >> kPageBits;
  if (last_page_ != nullptr && number == last_number_) return last_page_;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    if (pages_.size() == kMostPages) {
      ++not_joined_;
      return nullptr;
    }
    found = pages_.emplace(number, std::make_unique<Page>()).first;
    found->second->first_id = builder_.arrows().newCorrelations(2 * kPageKeys);
  }
  last_number_ = number;
  last_page_ = found->second.get();
  return last_page_;
}

CorrelationId Launches::host(std::uint64_t key) {
  if (key == 0) return 0;
  Page* const page = pageOf(key);
  if (page == nullptr) return 0;
  const std::uint64_t at = key % kPageKeys;
  if (!setBit(page->host, at))
    return 0;  // a driver call inside a runtime call: the outer call represents both
  const CorrelationId id = page->first_id + 2 * at;
  if (isSet(page->device, at))
    builder_.arrows().depend(id, id + 1, DependencyKind::launch);  // came before its launch
  return id;
}

CorrelationId Launches::device(std::uint64_t key) {
  if (key == 0) {
    ++without_number_;
    return 0;
  }
  Page* const page = pageOf(key);
  if (page == nullptr) return builder_.arrows().newCorrelation();
  const std::uint64_t at = key % kPageKeys;
  const CorrelationId host = page->first_id + 2 * at;
  const bool first = setBit(page->device, at);
  const CorrelationId id = first ? host + 1 : builder_.arrows().newCorrelation();
  if (isSet(page->host, at)) {
    builder_.arrows().depend(host, id, DependencyKind::launch);
  } else if (!first) {
    if (waiting_.size() < kMostWaiting)
      waiting_.emplace_back(key, id);
    else
      ++not_joined_;
  }
  return id;
}

void Launches::end() {
  std::int64_t without_launch = without_number_;
  for (const auto& [key, id] : waiting_) {
    Page* const page = pageOf(key);
    if (page != nullptr && isSet(page->host, key % kPageKeys)) {
      builder_.arrows().depend(page->first_id + 2 * (key % kPageKeys), id, DependencyKind::launch);
    } else {
      ++without_launch;
    }
  }
  for (const auto& [number, page] : pages_) {
    for (std::size_t i = 0; i < kPageKeys / 64; ++i)
      without_launch += std::popcount(page->device[i] & ~page->host[i]);
  }
  if (without_launch > 0) {
    builder_.tally().note(
        fmt::format("{}: {} no launch in the file: launched before the recording began, or launches were not "
                    "recorded",
                    builder_.tally().input().path,
                    without_launch == 1 ? "1 piece of device work has"
                                        : fmt::format("{} pieces of device work have", without_launch)));
  }
  if (not_joined_ > 0) {
    builder_.tally().note(
        fmt::format("{}: {} calls and pieces of device work are not joined, since their correlation "
                    "numbers are scattered over more than {} ranges of {}",
                    builder_.tally().input().path, not_joined_, kMostPages, kPageKeys));
  }
}

}  // namespace pitwall::import
