#include <atomic>
#include <utility>

#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall::autograd {
namespace {

thread_local bool recording = false;
std::atomic<std::uint64_t> last_sequence{0};

}  // namespace

bool isRecording() { return recording; }

RecordScope::RecordScope() : previous_(std::exchange(recording, true)) {}
RecordScope::~RecordScope() { recording = previous_; }

PauseScope::PauseScope() : previous_(std::exchange(recording, false)) {}
PauseScope::~PauseScope() { recording = previous_; }

bool shouldRecord(std::initializer_list<const NDArray*> inputs) {
  if (!recording) return false;
  for (const NDArray* input : inputs)
    if (isTracked(*input)) return true;
  return false;
}

void recordNode(const NDArray& output, std::shared_ptr<Node> node) {
  node->sequence = last_sequence.fetch_add(1, std::memory_order_relaxed) + 1;
  output.impl()->node = std::move(node);
}

}  // namespace pitwall::autograd
