// A kind of operator, and what a call of it computes: its Desc, whatever its type.
//
// runtime/operators/NAME.h declares the Desc of an operator: plain values that determine the computation, compared by
// ==, with a kind and with infer(), which checks shapes and infers those of the outputs. Inputs and outputs per pass
// are listed there; [x] is present only when the Desc requests it. In operators that keep a workspace the last input of
// the backward pass is opaque bytes (DType uint8) from the forward pass of the same backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "db/check.h"
#include "db/result.h"

namespace pitwall {

struct Signature;   // runtime/backend/support/signature.h
struct ShapeQuery;  // the same

enum class Pass : std::uint8_t { inference, forward, backwardData, backwardWeights, backward };
const char* toString(Pass pass);

struct KeepsWorkspace {
  bool value = false;
};
// Whether infer() checks the types of the inputs. Those of other kinds are real: float32, float16, bfloat16.
struct ChecksTypes {
  bool value = false;
};

// One object per kind, which identifies it.
struct OperatorKind {
  const char* name;  // as messages spell it: "Convolution"
  bool keeps_workspace;
  bool checks_types;
  Result<Signature> (*infer)(const void* desc, const ShapeQuery& query);
  bool (*equal)(const void* a, const void* b);
  void (*copy)(const void* from, void* to);  // nullptr = bytes
  void (*destroy)(void* desc) noexcept;      // nullptr = nothing to do

  // Of the Desc D; in the operator's .cpp.
  template <class D>
  static constexpr OperatorKind of(const char* name, KeepsWorkspace keeps = {}, ChecksTypes checks = {});
};

// All kinds of this build, in the order of their names.
std::span<const OperatorKind* const> operatorKinds();
// nullptr when there is none.
const OperatorKind* findOperatorKind(std::string_view name);

// A Desc of any kind, by value.
class OperatorKindDesc {
 public:
  static constexpr std::size_t kBytes = 112;

  OperatorKindDesc() = default;  // of no kind: only to be assigned
  template <class D>
  requires(std::is_same_v<decltype(D::kKind), const OperatorKind>)
      OperatorKindDesc(const D& desc)  // NOLINT: conversion is the purpose
      : kind_(&D::kKind) {
    static_assert(sizeof(D) <= kBytes && alignof(D) <= alignof(std::max_align_t));
    ::new (static_cast<void*>(storage_)) D(desc);
  }
  OperatorKindDesc(const OperatorKindDesc& other) { copy(other); }
  OperatorKindDesc& operator=(const OperatorKindDesc& other) {
    if (this != &other) {
      destroy();
      copy(other);
    }
    return *this;
  }
  ~OperatorKindDesc() { destroy(); }

  // Precondition of the following: of a kind.
  const OperatorKind& kind() const { return *kind_; }
  Result<Signature> infer(const ShapeQuery& query) const;  // runtime/backend/support/signature.h
  template <class D>
  bool is() const {
    return kind_ == &D::kKind;
  }
  // Precondition: is<D>().
  template <class D>
  const D& as() const {
    PITWALL_CHECK(is<D>(), "the Desc of another operator is asked for");
    return *std::launder(reinterpret_cast<const D*>(storage_));
  }
  friend bool operator==(const OperatorKindDesc& a, const OperatorKindDesc& b) {
    return a.kind_ == b.kind_ && (a.kind_ == nullptr || a.kind_->equal(a.storage_, b.storage_));
  }

 private:
  void copy(const OperatorKindDesc& other) {
    kind_ = other.kind_;
    if (kind_ != nullptr && kind_->copy != nullptr) {
      kind_->copy(other.storage_, storage_);
    } else {
      std::memcpy(storage_, other.storage_, kBytes);
    }
  }
  void destroy() noexcept {
    if (kind_ != nullptr && kind_->destroy != nullptr) kind_->destroy(storage_);
  }

  const OperatorKind* kind_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kBytes] = {};
};

template <class D>
constexpr OperatorKind OperatorKind::of(const char* name, KeepsWorkspace keeps, ChecksTypes checks) {
  OperatorKind kind{
      name,
      keeps.value,
      checks.value,
      [](const void* desc, const ShapeQuery& query) { return static_cast<const D*>(desc)->infer(query); },
      [](const void* a, const void* b) { return *static_cast<const D*>(a) == *static_cast<const D*>(b); },
      nullptr,
      nullptr};
  if constexpr (!std::is_trivially_copyable_v<D>) {
    kind.copy = [](const void* from, void* to) { ::new (to) D(*static_cast<const D*>(from)); };
    kind.destroy = [](void* desc) noexcept { static_cast<D*>(desc)->~D(); };
  }
  return kind;
}

}  // namespace pitwall
