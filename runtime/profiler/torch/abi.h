// The part of PyTorch's binary interface that the recording uses, declared without its headers: at::RecordFunction
// (ATen/record_function.h) and torch::profiler::impl (torch/csrc/profiler/util.h). The same from 1.13 on; functions that
// a version lacks are nullptr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pitwall::torch_abi {

struct RecordFunction;  // opaque: an operator or a range of the program that has begun

// std::unique_ptr<at::ObserverContext>: its destructor makes it a value that is returned through memory.
struct ObserverContextPointer {
  ObserverContextPointer() {}
  ~ObserverContextPointer() {}
  void* context = nullptr;
};

// at::RecordScope
enum class Scope : std::uint8_t { function = 0, backwardFunction = 1, torchScriptFunction = 2, user = 7 };
inline constexpr int kScopes = 10;

// at::RecordFunctionCallback, passed by value.
struct Callback {
  ObserverContextPointer (*start)(const RecordFunction& function) = nullptr;
  void (*end)(const RecordFunction& function, void* context) = nullptr;
  double sampling_probability = 1;
  bool scopes[kScopes] = {};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
};
static_assert(sizeof(Callback) == 40);

struct Functions {
  std::uint64_t (*add_global_callback)(Callback callback) = nullptr;  // at::addGlobalCallback
  const char* (*name)(const RecordFunction& function) = nullptr;      // at::RecordFunction::name
  bool (*gradients_enabled)() = nullptr;                              // c10::GradMode::is_enabled
  // torch::profiler::impl::inputSizes and inputTypes
  std::vector<std::vector<std::int64_t>> (*input_sizes)(const RecordFunction& function,
                                                        bool flatten_lists) = nullptr;
  std::vector<std::string> (*input_types)(const RecordFunction& function) = nullptr;

  bool canRecord() const { return add_global_callback != nullptr && name != nullptr; }
  bool haveShapes() const { return input_sizes != nullptr && input_types != nullptr; }
};

// Those of the PyTorch that this process has loaded; none when it has not.
Functions find();

}  // namespace pitwall::torch_abi
