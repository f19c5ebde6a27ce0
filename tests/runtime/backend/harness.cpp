#include "tests/runtime/backend/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "runtime/backend/support/signature.h"
#include "tests/runtime/gpu/short_backend.h"

namespace pitwall::test {
namespace {

// Like Storage's: 64-byte aligned.
std::shared_ptr<std::byte> alignedBytes(Bytes size) {
  const auto rounded = static_cast<std::size_t>((size + 63) / 64 * 64);
  return {static_cast<std::byte*>(std::aligned_alloc(64, std::max<std::size_t>(rounded, 64))), std::free};
}

}  // namespace

Array makeArray(const TensorSpec& spec) {
  Array array{spec, alignedBytes(spec.sizeBytes())};
  if (spec.dtype == DType::float32) {
    std::fill_n(array.floats(), spec.sizeBytes() / 4, std::numeric_limits<float>::quiet_NaN());
  }
  return array;
}

Array makeArray(const Shape& shape, const std::vector<float>& values) {
  Array array = makeArray(TensorSpec{shape, DType::float32, nullptr});
  std::copy(values.begin(), values.end(), array.floats());
  return array;
}

std::shared_ptr<std::byte> makeWorkspace(const Kernel& kernel) {
  return alignedBytes(kernel.workspaceBytes());
}

Array clone(const Array& array) {
  Array copy = makeArray(array.spec);
  std::memcpy(copy.bytes.get(), array.bytes.get(), static_cast<std::size_t>(array.spec.sizeBytes()));
  return copy;
}

Array randomArray(const Shape& shape, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& v : values) v = roundedToTestedType(uniform(random));
  return makeArray(shape, values);
}

std::unique_ptr<Backend> open(const char* name, int cached_kernels) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"MXNET_MKLDNN_CACHE_NUM", std::to_string(cached_kernels)}};
  const auto settings = Settings::fromValues(values);
  auto backend = openBackend(name, *settings);
  return std::move(backend).value();
}

std::string Call::toString() const {
  std::string text = fmt::format("{} {}(", operatorName(desc), pitwall::toString(pass));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = inputs[i].spec;
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", spec.shape.toString(),
                        spec.layout ? ":" + spec.layout->toString() : "");
  }
  text += ")";
  if (like != nullptr) text += " -> " + like->shape.toString();
  return text;
}

Array reordered(Backend& backend, const Array& array, const LayoutPtr& layout) {
  if (sameLayout(array.spec.layout, layout)) return array;
  return ask(backend, {.desc = ReorderDesc{layout}, .inputs = {array}}).outputs.at(0);
}

std::vector<float> rowMajorValues(Backend& backend, const Array& array) {
  const Array plain = reordered(backend, array, nullptr);
  return {plain.floats(), plain.floats() + plain.spec.shape.elements()};
}

Answer ask(Backend& backend, const Call& call) {
  std::vector<TensorSpec> specs;
  for (const Array& array : call.inputs) specs.push_back(array.spec);
  auto prepared = backend.prepare(call.desc, call.pass, specs, call.like);
  if (!prepared.has_value()) {
    ADD_FAILURE() << backend.name() << " cannot prepare " << call.toString() << ": "
                  << prepared.error().message;
    return {};
  }
  Answer answer{*prepared, {}};
  std::vector<Array> inputs;
  std::vector<const void*> from;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    inputs.push_back(reordered(backend, call.inputs[i], answer.kernel->inputs()[i].layout));
    from.push_back(inputs.back().bytes.get());
  }
  std::vector<void*> to;
  for (std::size_t i = 0; i < answer.kernel->outputs().size(); ++i) {
    const TensorSpec& spec = answer.kernel->outputs()[i];
    const bool given = i < call.outputs.size() && call.outputs[i].bytes != nullptr;
    answer.outputs.push_back(given ? clone(call.outputs[i]) : makeArray(spec));
    to.push_back(answer.outputs.back().bytes.get());
  }
  const auto workspace = makeWorkspace(*answer.kernel);
  const Status status = answer.kernel->run(
      {.inputs = from,
       .outputs = to,
       .rate = call.rate,
       .rescale = call.rescale,
       .context = {.workspace = workspace.get(), .threads = omp_get_max_threads(), .seed = call.seed}});
  if (!status.has_value()) {
    ADD_FAILURE() << backend.name() << " cannot run " << call.toString() << ": " << status.error().message;
  }
  return answer;
}

}  // namespace pitwall::test
