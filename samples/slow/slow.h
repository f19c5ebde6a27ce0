// Common code of the programs slow_*. Each trains a small model and has one deliberate bottleneck, which its
// variant --fixed does not have. `pitwall analyze` lists the bottleneck first; a test runs both variants of
// each.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/session.h"

namespace slow {

using namespace pitwall;

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline bool isFixed(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "--fixed") == 0; }

// Libraries read their variables when they are loaded: sets them and restarts the program.
inline void startWith(char** argv, const std::vector<std::pair<const char*, std::string>>& variables) {
  bool all = true;
  for (const auto& [name, value] : variables) {
    const char* now = std::getenv(name);
    all = all && now != nullptr && value == now;
    setenv(name, value.c_str(), 1);
  }
  if (!all) execv("/proc/self/exe", argv);
}

using SettingList = std::vector<std::pair<std::string, std::string>>;

using Milliseconds = std::chrono::duration<double, std::milli>;
inline void sleepFor(Milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace slow
