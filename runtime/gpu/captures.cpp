#include "runtime/gpu/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "db/try.h"

namespace pitwall {

namespace {
std::atomic<int> captures_printed{0};
}

GpuCaptures::~GpuCaptures() {
  const ScopedLock lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.graph != nullptr) driver_.destroyGraph(entry.graph);
}

void GpuCaptures::printNote(const std::string& what) { fprintf(stderr, "pitwall: %s\n", what.c_str()); }

Status GpuCaptures::run(GpuStream stream, std::span<const void* const> addresses,
                        const std::function<Status()>& put) {
  const ScopedLock lock(mutex_);
  if (fails_) return put();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return std::ranges::equal(entry.addresses, addresses);
  });
  if (found == entries_.end()) {
    if (entries_.size() < kMost) {
      entries_.push_back({{addresses.begin(), addresses.end()}, nullptr});
    } else {
      Entry& oldest = entries_[next_++ % kMost];
      if (oldest.graph != nullptr) driver_.destroyGraph(oldest.graph);
      oldest = {{addresses.begin(), addresses.end()}, nullptr};
    }
    return put();
  }
  if (found->graph == nullptr) {
    const Result<GpuGraph> captured = driver_.capture(stream, put);
    if (!captured.has_value()) {
      fails_ = true;
      if (options_.verbose)
        printNote(fmt::format("{} cannot be a CUDA graph: {}", name_, captured.error().message));
      return put();
    }
    found->graph = *captured;
    if (options_.verbose || captures_printed++ < options_.most_lines)
      printNote(fmt::format("created a CUDA graph of {} operators: {}", operators_, name_));
  }
  if (options_.verbose) printNote(fmt::format("launches the CUDA graph of {}", name_));
  return driver_.launch(found->graph, stream);
}

}  // namespace pitwall
