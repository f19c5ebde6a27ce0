// Result<T>: a value, or an Error that names the object, the place and the remedy.
//
// Used for every failure with an external cause (a file, a setting, a device, memory). A bug is a
// PITWALL_CHECK (check.h) instead. No exception crosses a folder boundary. The member names are those of
// std::expected; the conversion to bool is deleted so that a Result<bool> cannot be misread. An error is
// created only by fail(). Result<void> has the size of one pointer and costs nothing to return when there is
// no error.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "db/check.h"

namespace pitwall {

enum class ErrorCode {
  invalidInput,     // the user's value or file is invalid
  notFound,         // a named thing does not exist
  corruptTrace,     // a trace file that is damaged or not a trace
  versionMismatch,  // a trace written by a newer Pitwall
  io,               // the operating system refused a read or a write
  unsupported,      // valid, but not supported by this build or machine
  cancelled,        // the caller asked to stop
  internal,         // a bug of Pitwall, reported instead of crashing
};

struct Error {
  ErrorCode code;
  std::string message;
};

struct [[nodiscard]] Failure {
  Error error;
};

[[nodiscard]] inline Failure fail(ErrorCode code, std::string message) {
  return Failure{{code, std::move(message)}};
}
[[nodiscard]] inline Failure fail(Error error) { return Failure{std::move(error)}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const = delete;

  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const& { return has_value() ? std::get<0>(state_) : std::move(other); }

  // Precondition: !has_value().
  const Error& error() const { return std::get<1>(state_); }

 private:
  void checked() const { PITWALL_CHECK(has_value(), "%s", error().message.c_str()); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : error_(std::make_unique<Error>(std::move(failure.error))) {}

  bool has_value() const { return error_ == nullptr; }
  explicit operator bool() const = delete;
  void value() const { PITWALL_CHECK(has_value(), "%s", error_->message.c_str()); }

  // Precondition: !has_value().
  const Error& error() const { return *error_; }

 private:
  std::unique_ptr<Error> error_;
};

using Status = Result<void>;

}  // namespace pitwall
