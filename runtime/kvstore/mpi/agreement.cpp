#include "runtime/kvstore/mpi/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pitwall::kvstore::mpi {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
}

// The same on all ranks, which may be of different builds: not std::hash.
std::uint64_t hashOf(const Exchange& exchange) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char letter : exchange.key) hash = mixed(hash, static_cast<unsigned char>(letter));
  hash = mixed(hash, static_cast<std::uint64_t>(exchange.kind));
  return mixed(hash, static_cast<std::uint64_t>(exchange.bytes));
}

}  // namespace

std::uint64_t Agreement::announce(Exchange exchange) {
  announced_.push_back({std::move(exchange)});
  return next_++;
}

void Agreement::finished(std::uint64_t number) {
  announced_[number - first_].is_finished = true;
  for (; !announced_.empty() && announced_.front().is_finished; ++first_) announced_.pop_front();
}

ReadySet Agreement::readySet() const {
  ReadySet set;
  set.base = base_;
  for (const std::uint64_t number : ready_)
    if (number - base_ < ReadySet::kMost) set.add(number);
  return set;
}

Vote Agreement::voteFor(const ReadySet& ready) const {
  Vote vote;
  vote.history = history_;
  vote.not_history = ~history_;
  vote.bits = ready.bits;
  return vote;
}

Status Agreement::take(const Vote& result, std::deque<Bucket>& buckets) {
  if (result.history != ~result.not_history)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("the ranks exchange different keys or shapes, at the latest before key '{}': call "
                    "init(), push() and pull() for the same keys in the same order on all ranks",
                    last_key_));
  ReadySet agreed;
  agreed.base = base_;
  agreed.bits = result.bits;
  std::vector<std::pair<int, std::uint64_t>> by_priority;
  for (auto number = ready_.begin(); number != ready_.end();) {
    if (!agreed.contains(*number)) {
      ++number;
      continue;
    }
    by_priority.emplace_back(exchange(*number).priority, *number);
    agreed_.insert(*number);
    number = ready_.erase(number);
  }
  const auto first = [](const auto& a, const auto& b) { return a.first > b.first; };
  if (!std::ranges::is_sorted(by_priority, first)) std::ranges::stable_sort(by_priority, first);
  std::vector<std::uint64_t> numbers;
  for (const auto& [priority, number] : by_priority) {
    numbers.push_back(number);
    history_ = mixed(history_, hashOf(exchange(number)));
  }
  if (!numbers.empty()) last_key_ = exchange(numbers.back()).key;
  while (agreed_.erase(base_) != 0) ++base_;
  pack(numbers, buckets);
  return {};
}

// Only sums share a call; one that is larger than a bucket has its own.
void Agreement::pack(const std::vector<std::uint64_t>& numbers, std::deque<Bucket>& buckets) const {
  bool joins = false;
  for (const std::uint64_t number : numbers) {
    const Exchange& one = exchange(number);
    const bool is_sum = one.kind == Exchange::Kind::sum;
    if (!joins || !is_sum || buckets.back().bytes + one.bytes > bucket_bytes_)
      buckets.push_back({.kind = one.kind, .numbers = {}});
    joins = is_sum;
    buckets.back().numbers.push_back(number);
    buckets.back().bytes += one.bytes;
  }
}

}  // namespace pitwall::kvstore::mpi
