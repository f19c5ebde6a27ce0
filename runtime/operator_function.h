// What an operator does when it runs: a callable that the engine stores and calls once, in one of two forms.
//
//   Status(const RunContext&)             the operator is complete when the call returns
//   void(const RunContext&, Completion)   it is complete when the Completion has been called, during the call
//                                         or later, by any thread: for work that a stream, a network or
//                                         another thread finishes while the worker runs other operators
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "db/result.h"
#include "runtime/device.h"

namespace pitwall {

namespace engine {
struct Operator;
class CompletionReceiver;  // runtime/engine/completion.h
}  // namespace engine

// The context of a running operator.
struct RunContext {
  Device device = {};
  bool is_bulk = false;  // one of several in a bulk segment
};

// Completes one operator. Move-only; call it exactly once. Destroying it uncalled fails the operator with an
// error that names it. The engine must not end before: its waits, stop() and destructor wait for open
// operators.
class Completion {
 public:
  Completion() = default;  // of no operator
  Completion(engine::Operator& op, engine::CompletionReceiver& receiver) : op_(&op), receiver_(&receiver) {}
  Completion(Completion&& other) noexcept
      : op_(std::exchange(other.op_, nullptr)), receiver_(other.receiver_) {}
  Completion& operator=(Completion&& other) noexcept;
  ~Completion() { drop(); }
  explicit operator bool() const { return op_ != nullptr; }

  // Any thread. An error fails the operator, as if it had been returned. The operator's function must have
  // returned too before operators that wait for it run; what the function holds is destroyed then, on the
  // thread of the later of both. Precondition: not called before, not moved from.
  void operator()(Status status);

 private:
  void drop() noexcept;
  engine::Operator* op_ = nullptr;
  engine::CompletionReceiver* receiver_ = nullptr;
};

template <class F>
concept RunsToTheEnd = std::is_invocable_r_v<Status, F&, const RunContext&>;
template <class F>
concept CompletesLater = !RunsToTheEnd<F> && std::is_invocable_v<F&, const RunContext&, Completion>;

// Move-only. Callables up to kInlineBytes are stored without allocation.
class OperatorFunction {
 public:
  static constexpr std::size_t kInlineBytes = 64;
  OperatorFunction() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, OperatorFunction> &&
           (RunsToTheEnd<std::decay_t<F>> || CompletesLater<std::decay_t<F>>))
      OperatorFunction(F&& function);  // NOLINT: conversion is the purpose
  OperatorFunction(OperatorFunction&& other) noexcept { take(other); }
  OperatorFunction& operator=(OperatorFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~OperatorFunction() { reset(); }
  explicit operator bool() const { return handler_ != nullptr; }
  // Whether it has the second form.
  bool completesLater() const { return handler_ != nullptr && handler_->start != nullptr; }

  // Precondition: not empty, first form.
  Status operator()(const RunContext& context) { return handler_->call(storage_, context); }
  // Precondition: second form.
  void start(const RunContext& context, Completion completion) {
    handler_->start(storage_, context, std::move(completion));
  }

 private:
  struct Handler {
    Status (*call)(void* self, const RunContext& context);  // one of both is nullptr
    void (*start)(void* self, const RunContext& context, Completion&& completion);
    void (*move)(void* from, void* to) noexcept;  // and destroys `from`; nullptr = trivially relocatable
    void (*destroy)(void* self) noexcept;         // nullptr = trivial
    std::size_t bytes;
  };
  template <class F>
  static F& stored(void* self, bool is_inline) {
    return is_inline ? *static_cast<F*>(self) : **static_cast<F**>(self);
  }
  template <class F, bool kInline>
  static constexpr auto callOf();
  template <class F, bool kInline>
  static constexpr auto startOf();
  template <class F>
  static const Handler* inlineHandler();
  template <class F>
  static const Handler* heapHandler();

  void take(OperatorFunction& other) noexcept {
    handler_ = std::exchange(other.handler_, nullptr);
    if (handler_ == nullptr) return;
    if (handler_->move != nullptr) {
      handler_->move(other.storage_, storage_);
    } else if (handler_->bytes <= 16) {
      std::memcpy(storage_, other.storage_, 16);
    } else {
      std::memcpy(storage_, other.storage_, kInlineBytes);
    }
  }
  void reset() noexcept {
    const Handler* handler = std::exchange(handler_, nullptr);
    if (handler != nullptr && handler->destroy != nullptr) handler->destroy(storage_);
  }

  const Handler* handler_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};

template <class F, bool kInline>
constexpr auto OperatorFunction::callOf() {
  Status (*call)(void*, const RunContext&) = nullptr;
  if constexpr (RunsToTheEnd<F>) {
    call = [](void* self, const RunContext& context) -> Status { return stored<F>(self, kInline)(context); };
  }
  return call;
}

template <class F, bool kInline>
constexpr auto OperatorFunction::startOf() {
  void (*start)(void*, const RunContext&, Completion&&) = nullptr;
  if constexpr (CompletesLater<F>) {
    start = [](void* self, const RunContext& context, Completion&& completion) {
      stored<F>(self, kInline)(context, std::move(completion));
    };
  }
  return start;
}

template <class F>
const OperatorFunction::Handler* OperatorFunction::inlineHandler() {
  static constexpr bool kPlain = std::is_trivially_copyable_v<F>;
  static constexpr Handler kHandler = {
      callOf<F, true>(), startOf<F, true>(),
      kPlain ? nullptr
             : +[](void* from, void* to) noexcept {
                 ::new (to) F(std::move(*static_cast<F*>(from)));
                 static_cast<F*>(from)->~F();
               },
      std::is_trivially_destructible_v<F> ? nullptr : +[](void* self) noexcept { static_cast<F*>(self)->~F(); },
      sizeof(F)};
  return &kHandler;
}

template <class F>
const OperatorFunction::Handler* OperatorFunction::heapHandler() {
  static constexpr Handler kHandler = {callOf<F, false>(), startOf<F, false>(), nullptr,
                                       [](void* self) noexcept { delete *static_cast<F**>(self); },
                                       sizeof(F*)};
  return &kHandler;
}

template <class F>
requires(!std::is_same_v<std::decay_t<F>, OperatorFunction> &&
         (RunsToTheEnd<std::decay_t<F>> ||
          CompletesLater<std::decay_t<F>>)) OperatorFunction::OperatorFunction(F&& function) {
  using Kept = std::decay_t<F>;
  if constexpr (sizeof(Kept) <= kInlineBytes && alignof(Kept) <= alignof(std::max_align_t) &&
                std::is_nothrow_move_constructible_v<Kept>) {
    ::new (static_cast<void*>(storage_)) Kept(std::forward<F>(function));
    handler_ = inlineHandler<Kept>();
  } else {
    ::new (static_cast<void*>(storage_)) Kept*(new Kept(std::forward<F>(function)));
    handler_ = heapHandler<Kept>();
  }
}

}  // namespace pitwall
