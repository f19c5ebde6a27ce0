// The part of libtorch_cpu.so that the recording uses, with the types of PyTorch's own declarations: begins and ends
// operators as a test says.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace at {

struct ObserverContext {
  virtual ~ObserverContext() = default;
};

struct RecordFunction {
  std::string text;
  std::vector<std::vector<std::int64_t>> sizes;
  std::string type;
  std::vector<std::unique_ptr<ObserverContext>> contexts;
  int scope = 0;
  const char* name() const;
};
const char* RecordFunction::name() const { return text.c_str(); }

struct RecordFunctionCallback {
  std::unique_ptr<ObserverContext> (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, ObserverContext*);
  double sampling_probability;
  std::array<bool, 10> scopes;
  bool needs_inputs, needs_outputs, needs_ids;
};

std::vector<RecordFunctionCallback>& callbacks() {
  static std::vector<RecordFunctionCallback> all;
  return all;
}

std::uint64_t addGlobalCallback(RecordFunctionCallback callback) {
  callbacks().push_back(callback);
  return callbacks().size();
}

}  // namespace at

namespace torch::profiler::impl {

std::vector<std::vector<std::int64_t>> inputSizes(const at::RecordFunction& function, bool) {
  return function.sizes;
}
std::vector<std::string> inputTypes(const at::RecordFunction& function) {
  return std::vector<std::string>(function.sizes.size(), function.type);
}

}  // namespace torch::profiler::impl

namespace {

std::vector<std::unique_ptr<at::RecordFunction>>& running() {
  thread_local std::vector<std::unique_ptr<at::RecordFunction>> all;
  return all;
}

}  // namespace

// An operator of this thread with one input of rows x columns; 0 rows: no tensor.
extern "C" void fake_torch_begin(const char* name, int scope, std::int64_t rows, std::int64_t columns,
                                 const char* type) {
  auto function = std::make_unique<at::RecordFunction>();
  function->text = name;
  function->scope = scope;
  function->type = type;
  function->sizes.push_back(rows == 0 ? std::vector<std::int64_t>()
                                      : std::vector<std::int64_t>{rows, columns});
  for (const auto& callback : at::callbacks()) {
    if (callback.scopes[static_cast<std::size_t>(scope)])
      function->contexts.push_back(callback.start(*function));
  }
  running().push_back(std::move(function));
}

// The operator that began `back` operators ago ends: 0 the innermost.
extern "C" void fake_torch_end(int back) {
  const auto at = running().end() - 1 - back;
  std::size_t context = 0;
  for (const auto& callback : at::callbacks()) {
    if (callback.scopes[static_cast<std::size_t>((*at)->scope)])
      callback.end(**at, (*at)->contexts[context++].get());
  }
  running().erase(at);
}
