#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "runtime/array/bulk.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall::autograd {
namespace {

std::atomic<std::uint64_t> last_stamp{0};

// All nodes that `root` depends on, the latest recorded first. Each comes after every node that uses its
// result.
std::vector<Node*> reachable(Node& root, std::uint64_t visit) {
  std::vector<Node*> found{&root};
  root.visit = visit;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const NDArray& input : found[i]->inputs) {
      Node* producer = input ? input.impl()->node.get() : nullptr;
      if (producer == nullptr || producer->visit == visit) continue;
      producer->visit = visit;
      found.push_back(producer);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Node* a, const Node* b) { return a->sequence > b->sequence; });
  return found;
}

// The gradient of a result without a head gradient; cached at its call site, since it never changes.
Value ones(const SitePtr& site, const NDArray& result) {
  if (site != nullptr && site->ones && site->ones.shape == result.shape() &&
      site->ones.chunk->dtype == result.dtype() && site->ones.device() == result.device())
    return site->ones;
  Value value{makeChunk(result.session(), result.device(), MemoryTag::gradients, result.dtype()),
              result.shape()};
  fillConstant(value, 1, "_ones", Phase::backward);
  if (site != nullptr) site->ones = value;
  return value;
}

Status backwardOf(Node& node, std::uint64_t stamp) {
  if (node.spent)
    return fail(ErrorCode::invalidInput,
                "backward: the result depends on an array whose recording an earlier backward() has used up; "
                "record the whole computation again");
  Gradients gradients(node, stamp);
  return node.backward(gradients);
}

}  // namespace

Status backward(const NDArray& result, const NDArray& head) {
  if (!result || result.impl()->node == nullptr)
    return fail(ErrorCode::invalidInput,
                "backward: the array was not recorded; compute it inside an autograd::RecordScope from an "
                "array with attachGradient()");
  Node& root = *result.impl()->node;
  if (root.spent)
    return fail(ErrorCode::invalidInput, "backward: called before for this array; record it again");
  if (head && head.shape() != result.shape())
    return fail(ErrorCode::invalidInput, fmt::format("backward: head gradient {} for a result of shape {}",
                                                     head.shape().toString(), result.shape().toString()));
  const std::uint64_t stamp = last_stamp.fetch_add(1, std::memory_order_relaxed) + 1;
  if (head && head.device() != result.device())
    return fail(
        ErrorCode::invalidInput,
        fmt::format("backward: head gradient on {} for a result on {}; copy it first (NDArray::copyTo)",
                    toString(head.device()), toString(result.device())));
  Session& session = result.session();
  const PauseScope pause;
  const BulkRegion bulk(session, bulkSize(session, result.device(), BulkKind::backward));
  root.head = head ? valueOf(head) : ones(root.site, result);

  // The nodes are owned by arrays that the program holds: keep them alive until the end.
  std::vector<Node*> nodes = reachable(root, stamp);
  std::vector<std::vector<NDArray>> held;
  held.reserve(nodes.size());
  Status status;
  for (Node* node : nodes) {
    if (status.has_value() && node->head) status = backwardOf(*node, stamp);
    held.push_back(std::move(node->inputs));
    node->forget();
  }
  return status;
}

}  // namespace pitwall::autograd
