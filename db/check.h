// PITWALL_CHECK(condition, printf-format, values...): an invariant of our own code. If it does not hold,
// prints the place, the condition and the values to standard error and aborts. Never reachable from input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define PITWALL_CHECK(condition, ...)                                                                    \
  do {                                                                                                   \
    if (!(condition)) [[unlikely]] {                                                                     \
      std::fprintf(stderr, "%s:%d: internal error: " #condition " does not hold: ", __FILE__, __LINE__); \
      std::fprintf(stderr, __VA_ARGS__);                                                                 \
      std::fputc('\n', stderr);                                                                          \
      std::abort();                                                                                      \
    }                                                                                                    \
  } while (false)
