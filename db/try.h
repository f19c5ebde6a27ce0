// PITWALL_TRY(expression): the value of a Result<T>; if it holds an error, returns that error from the
// enclosing function or lambda, whose own type is a Result or Status. For a Status it has no value.
//
//   Result<std::size_t> countRows(const std::string& path) {
//     Connection connection = PITWALL_TRY(Connection::open(path, OpenMode::readOnly));
//     PITWALL_TRY(connection.execute("BEGIN"));
//     ...
//
// Use it as a whole statement, or as all of an initializer, of the right side of an assignment, or of what is
// returned; never within a larger expression or a braced list: where it returns from there, compilers do not
// destroy what the rest of the expression has already made. The value is moved out of the Result, also where
// the expression names a variable (from a constant one it is copied). To debuggers and to PITWALL_CHECK all
// lines of a macro's argument are one; so call a function with a lambda of several statements first, and pass
// the variable that holds its result.
#pragma once

#include <utility>

#include "db/result.h"

namespace pitwall::detail {

template <class T>
T takeValue(Result<T>& result) {
  return std::move(result).value();
}
template <class T>
T takeValue(const Result<T>& result) {
  return result.value();
}

}  // namespace pitwall::detail

#define PITWALL_TRY(...) PITWALL_TRY_WITH(__COUNTER__, __VA_ARGS__)
#define PITWALL_TRY_WITH(number, ...) PITWALL_TRY_NAMED(number, __VA_ARGS__)
#define PITWALL_TRY_NAMED(number, ...)                                                                 \
  __extension__({                                                                                      \
    auto&& pitwall_result_##number = __VA_ARGS__;                                                      \
    if (!pitwall_result_##number.has_value()) return ::pitwall::fail(pitwall_result_##number.error()); \
    ::pitwall::detail::takeValue(pitwall_result_##number);                                             \
  })
