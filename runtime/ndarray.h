// NDArray: an array whose contents are computed asynchronously. A cheap handle; copies share the contents.
//
// Every operator on arrays returns immediately; waitToRead(), toVector() and similar calls wait and report
// errors of the computation. Threads: one thread uses a handle at a time; the contents are ordered by the
// engine.
//
// An array is on one device, where its memory is and its operators run. Operators on arrays of different
// devices are an error; copyTo() copies an array to another device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "db/result.h"
#include "runtime/memory.h"
#include "runtime/session.h"
#include "runtime/tensor.h"

namespace pitwall {

class NDArray {
 public:
  NDArray() = default;  // no array

  // Contents undefined until written. Memory is allocated when first needed; an error of the device, such as
  // one that this build does not have, surfaces then.
  static NDArray empty(Session& session, Shape shape, MemoryTag tag = MemoryTag::other,
                       DType dtype = DType::float32, Device device = {});
  static NDArray zeros(Session& session, Shape shape, MemoryTag tag = MemoryTag::other, Device device = {},
                       DType dtype = DType::float32);
  // Copies `values` (row-major) before it returns. Precondition: values.size() == shape.elements().
  static NDArray fromValues(Session& session, Shape shape, std::span<const float> values,
                            MemoryTag tag = MemoryTag::data, Device device = {});

  explicit operator bool() const { return impl_ != nullptr; }
  Session& session() const;
  const Shape& shape() const;
  DType dtype() const;
  Device device() const;

  Status waitToRead() const;
  // Waits; row-major float32 for any internal layout. Errors: unsupported for an array of integers.
  Result<std::vector<float>> toVector() const;
  // Overwrites the contents (row-major); copies `values` before it returns, rounded to the array's type. Errors: unsupported for an
  // array of integers.
  Status copyFrom(std::span<const float> values);

  // The contents become those of `block`, row-major, without a copy. Preconditions: it has at least the bytes of the array,
  // and is memory of the array's device.
  void takeBlock(Block block);

  // A copy on `device`, also when that is the array's own; returns before it is made. Gradients flow through
  // it back to this array's device. Errors: unsupported or invalidInput naming the device; those of the
  // contents surface at a wait.
  Result<NDArray> copyTo(Device device) const;

  // Same contents under another shape of as many elements; a reorder to row-major is pushed when needed.
  Result<NDArray> reshape(Shape shape) const;

  // Marks this array as a parameter: operators recorded by autograd give it a gradient.
  void attachGradient();
  // The gradient array; empty handle before attachGradient().
  NDArray gradient() const;

  struct Impl;  // runtime/array/array.h
  const std::shared_ptr<Impl>& impl() const { return impl_; }
  explicit NDArray(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace pitwall
