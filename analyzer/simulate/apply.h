// Turns changes into lengths of tasks. A change whose effect is not exactly known has a best and a worst case.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/simulate/edit.h"
#include "analyzer/simulate/program.h"
#include "analyzer/simulate/replay.h"

namespace pitwall::simulate {

enum class Case : std::uint8_t { best, middle, worst };

struct Changed {
  Lengths lengths;
  // Batches are made by so many workers, beside the training; each takes `make_factor` times as long as it did.
  std::optional<std::int64_t> workers, depth;
  double make_factor = 1;
  double remaining_wait_share = 0;  // of the recorded waits for batches, which stays with a queue
  TimeNs floor_ns = 0;              // an iteration takes this at least: a resource is busy so long
  double latency_factor = 1,
         byte_factor = 1;       // of the parts of a transfer's time, to be applied after all else
  std::optional<double> ranks;  // so many take part in collectives; with the two above
  bool queued = false;          // batches come from a queue
  std::vector<std::string> notes;

  // Each sentence once.
  void note(std::string sentence);
};

// Errors: invalidInput for a change that the program has nothing for.
Result<Changed> applyEdits(const Program& program, std::span<const Edit> edits, Case which);

// Whether the cases differ.
bool hasCases(const Program& program, std::span<const Edit> edits);

}  // namespace pitwall::simulate
