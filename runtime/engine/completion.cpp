#include "runtime/engine/completion.h"

#include "db/check.h"
#include "runtime/operator_function.h"

namespace pitwall {

Completion& Completion::operator=(Completion&& other) noexcept {
  if (this == &other) return *this;
  drop();
  op_ = std::exchange(other.op_, nullptr);
  receiver_ = other.receiver_;
  return *this;
}

void Completion::operator()(Status status) {
  PITWALL_CHECK(op_ != nullptr, "a Completion is called twice, or after it was moved from");
  receiver_->completed(*std::exchange(op_, nullptr), std::move(status));
}

void Completion::drop() noexcept {
  if (op_ != nullptr) receiver_->dropped(*std::exchange(op_, nullptr));
}

}  // namespace pitwall
