// Automatic differentiation: operators called while a RecordScope is alive remember what their gradients
// need; backward() then computes the gradients of all arrays with attachGradient() that the result depends
// on.
//
// A gradient is overwritten by each backward(); an array used several times in one computation gets the sum.
// All state belongs to the recording thread.
#pragma once

#include <utility>

#include "db/result.h"
#include "runtime/ndarray.h"

namespace pitwall::autograd {

// Whether operators called by this thread record and behave as in training.
bool isRecording();

class RecordScope {
 public:
  RecordScope();
  ~RecordScope();
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

 private:
  bool previous_;
};

// Calls `compute` in a RecordScope: record([&] { return net.forward(images); }).
template <class Compute>
auto record(Compute&& compute) {
  const RecordScope scope;
  return std::forward<Compute>(compute)();
}

// Stops recording inside a RecordScope.
class PauseScope {
 public:
  PauseScope();
  ~PauseScope();
  PauseScope(const PauseScope&) = delete;
  PauseScope& operator=(const PauseScope&) = delete;

 private:
  bool previous_;
};

// Pushes the gradient computation of `result` and clears the recording, so that it can be called once. `head`
// is the gradient of `result`, all ones when empty (that is, of the sum of its elements). Returns before
// anything has run. Errors: invalidInput when `result` was not recorded or `head` has another shape or
// device.
Status backward(const NDArray& result, const NDArray& head = {});

}  // namespace pitwall::autograd
