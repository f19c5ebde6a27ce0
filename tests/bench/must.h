// What a bench needs, or its end.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "db/result.h"

namespace pitwall {

// The value; an error is printed and ends the program with code 2.
template <class T>
T must(Result<T> result) {
  if (!result.has_value()) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, result.error().message.c_str());
    std::exit(2);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace pitwall
