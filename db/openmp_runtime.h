// OpenMP runtimes, recognised by the files of their libraries.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace pitwall::host {

// The name of the OpenMP runtime whose library file this is ("/usr/lib/libgomp.so.1" -> "libgomp"); "" for other
// libraries.
std::string_view openMpRuntimeOf(std::string_view library_path);

// Those among the libraries that a process has loaded.
class OpenMpRuntimes {
 public:
  void add(std::string_view library_path);

  // "libgomp", "libomp", "libiomp5", in that order and joined by '+' when there are several; "" = none.
  std::string names() const;

 private:
  std::array<bool, 3> found_{};  // in that order
};

}  // namespace pitwall::host
