// One recorded operator call. Nodes form a graph through the arrays they hold: result -> node -> inputs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "runtime/array/call.h"

namespace pitwall::autograd {

class Gradients;

struct Node {
  virtual ~Node() = default;

  // Pushes the gradient of the inputs from `head`, the gradient of the output. Only for inputs that
  // `gradients.wanted(i)`.
  virtual Status backward(Gradients& gradients) = 0;

  // Drops the saved arrays. A node is used once.
  void forget() {
    inputs.clear();
    head = {};
    spent = true;
  }

  // The arrays that gradients flow to, in the operator's order. Never the node's own output (that would be a
  // reference cycle); an output that a gradient needs is kept as a Value.
  std::vector<NDArray> inputs;
  SitePtr site;
  Value head;
  std::uint64_t sequence = 0;  // order of recording
  std::uint64_t visit = 0;     // the last backward() that visited it
  bool spent = false;
};

// Whether gradients flow to the array.
inline bool isTracked(const NDArray& array) {
  return array && (array.impl()->node != nullptr || array.gradient());
}

// Whether a call with these inputs has to be recorded.
bool shouldRecord(std::initializer_list<const NDArray*> inputs);

// Sets `node` as the origin of `output`.
void recordNode(const NDArray& output, std::shared_ptr<Node> node);

// Receives the gradients of a node's inputs from its backward().
class Gradients {
 public:
  Gradients(Node& node, std::uint64_t stamp) : node_(node), stamp_(stamp) {}

  const Value& head() const { return node_.head; }
  const SitePtr& site() const { return node_.site; }
  bool wanted(std::size_t input) const;

  // Whether this backward() has written the gradient of an input already, as far as the program sees it (NDArray::gradient()).
  bool isWritten(std::size_t input) const;

  // An output for the gradient of an input: the parameter's gradient itself when it can be written directly,
  // else no array (one must be created).
  Value target(std::size_t input) const;

  // Adds the gradient of an input, computed into target() or a new array.
  Status give(std::size_t input, const Value& gradient);

 private:
  Node& node_;
  std::uint64_t stamp_;
};

}  // namespace pitwall::autograd
