#include "runtime/graph/executor/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/device_bytes.h"
#include "runtime/array/kernel_run.h"

namespace pitwall::graph {

Weights::Weights(Session& session, Device device, const Program& program, const Schedule& schedule,
                 const std::vector<NDArray>& arrays, bool follows_dense)
    : session_(session),
      device_(device),
      program_(program),
      schedule_(schedule),
      arrays_(arrays),
      blocks_(program.tensors.size()),
      is_read_(readBySteps(program, schedule)) {
  std::set<int> sources;
  for (const int tensor : constantSources(program, follows_dense)) {
    const int base = baseOf(program, tensor);
    if (program.tensors[position(base)].variable >= 0) sources.insert(base);
  }
  for (const Constant& constant : schedule.constants) {
    const int base = baseOf(program, constant.from);
    if (program.tensors[position(base)].variable >= 0) sources.insert(base);
  }
  sources_.assign(sources.begin(), sources.end());
}

Status Weights::compute() {
  for (const Folding& folding : program_.foldings) PITWALL_TRY(fold(folding));
  for (const QuantizedWeight& weight : program_.quantized_weights) PITWALL_TRY(quantize(weight));
  for (const QuantizedNorm& norm : program_.quantized_norms) PITWALL_TRY(scaleNorm(norm));
  for (const Constant& constant : schedule_.constants) PITWALL_TRY(reorder(constant));
  // What was only a step on the way.
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (!is_read_[i]) blocks_[i] = Block();
  versions_.clear();
  for (const int tensor : sources_)
    versions_.push_back(session_.engine().version(valueOf(arrays_[position(tensor)]).chunk->variable));
  return {};
}

Result<bool> Weights::areStale() {
  bool stale = false;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Variable variable = valueOf(arrays_[position(sources_[i])]).chunk->variable;
    PITWALL_TRY(session_.engine().waitForVariable(variable));
    stale |= session_.engine().version(variable) != versions_[i];
  }
  return stale;
}

Bytes Weights::bytes() const {
  Bytes sum = 0;
  for (const Block& block : blocks_) sum += block.size();
  return sum;
}

Result<void*> Weights::placeOf(int tensor, Bytes bytes) {
  Block& block = blocks_[position(tensor)];
  if (block.size() != bytes) {
    Storage* const storage = PITWALL_TRY(session_.storage(device_));
    block = PITWALL_TRY(storage->allocate(bytes, MemoryTag::weights));
  }
  return block.data();
}

template <class T>
Status Weights::store(int tensor, const std::vector<T>& values) {
  const auto bytes = static_cast<Bytes>(values.size() * sizeof(T));
  return writeBytes(session_, device_, PITWALL_TRY(placeOf(tensor, bytes)), values.data(), bytes);
}

Status Weights::storeRounded(int tensor, const std::vector<float>& values) {
  const DType type = program_.tensors[position(tensor)].dtype;
  const auto bytes = static_cast<Bytes>(values.size()) * sizeOf(type);
  return writeValues(session_, device_, type, PITWALL_TRY(placeOf(tensor, bytes)), values);
}

Result<std::vector<float>> Weights::valuesOf(int tensor) const {
  const int base = baseOf(program_, tensor);
  if (program_.tensors[position(base)].variable >= 0) return arrays_[position(base)].toVector();
  const Tensor& contents = program_.tensors[position(base)];
  return readValues(session_, device_, contents.dtype, blocks_[position(base)].data(),
                    contents.shape.elements());
}

// gamma (w x + b - mean) / sqrt(variance + epsilon) + beta, as one weight and one bias.
Status Weights::fold(const Folding& f) {
  std::vector<float> weight = PITWALL_TRY(valuesOf(f.weight));
  const auto gamma = PITWALL_TRY(valuesOf(f.gamma));
  const auto mean = PITWALL_TRY(valuesOf(f.mean));
  const auto variance = PITWALL_TRY(valuesOf(f.variance));
  std::vector<float> bias = PITWALL_TRY(valuesOf(f.beta));
  std::vector<float> before(bias.size(), 0.0F);
  if (f.bias >= 0) before = PITWALL_TRY(valuesOf(f.bias));
  const std::size_t each = weight.size() / bias.size();
  for (std::size_t channel = 0; channel < bias.size(); ++channel) {
    const double scale = (f.fix_gamma ? 1.0 : static_cast<double>(gamma[channel])) /
                         std::sqrt(static_cast<double>(variance[channel]) + static_cast<double>(f.epsilon));
    bias[channel] = static_cast<float>(
        static_cast<double>(bias[channel]) +
        (static_cast<double>(before[channel]) - static_cast<double>(mean[channel])) * scale);
    for (std::size_t i = channel * each; i < (channel + 1) * each; ++i)
      weight[i] = static_cast<float>(static_cast<double>(weight[i]) * scale);
  }
  PITWALL_TRY(storeRounded(f.folded_weight, weight));
  return storeRounded(f.folded_bias, bias);
}

// Each channel has its scale. The kernel adds the bias to the sums of products, before it multiplies.
Status Weights::quantize(const QuantizedWeight& q) {
  const std::vector<float> weight = PITWALL_TRY(valuesOf(q.weight));
  const auto channels = static_cast<std::size_t>(program_.tensors[position(q.weight)].shape[0]);
  std::vector<float> bias(channels, 0.0F), scale(channels);
  if (q.bias >= 0) bias = PITWALL_TRY(valuesOf(q.bias));
  std::vector<std::int8_t> quantized(weight.size());
  const std::size_t each = weight.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    float most = 0;
    for (std::size_t i = channel * each; i < (channel + 1) * each; ++i)
      most = std::max(most, std::abs(weight[i]));
    const double steps = most > 0 ? q.codes.largest / static_cast<double>(most) : 1;
    for (std::size_t i = channel * each; i < (channel + 1) * each; ++i)
      quantized[i] = static_cast<std::int8_t>(
          std::nearbyint(static_cast<double>(weight[i]) * steps / q.codes.step) * q.codes.step);
    scale[channel] = static_cast<float>(q.output_scale / (q.data_scale * steps));
    bias[channel] = static_cast<float>(static_cast<double>(bias[channel]) * q.data_scale * steps);
  }
  PITWALL_TRY(store(q.quantized, quantized));
  PITWALL_TRY(store(q.scale, scale));
  return store(q.shifted_bias, bias);
}

Status Weights::scaleNorm(const QuantizedNorm& n) {
  const auto gamma = PITWALL_TRY(valuesOf(n.gamma)), mean = PITWALL_TRY(valuesOf(n.mean));
  const auto beta = PITWALL_TRY(valuesOf(n.beta)), variance = PITWALL_TRY(valuesOf(n.variance));
  std::vector<float> scale(beta.size()), shift(beta.size());
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double factor = (n.fix_gamma ? 1.0 : static_cast<double>(gamma[i])) /
                          std::sqrt(static_cast<double>(variance[i]) + static_cast<double>(n.epsilon));
    scale[i] = static_cast<float>(factor * n.output_scale / n.data_scale);
    shift[i] = static_cast<float>((static_cast<double>(beta[i]) - static_cast<double>(mean[i]) * factor) *
                                  n.output_scale);
  }
  PITWALL_TRY(store(n.scale, scale));
  return store(n.shift, shift);
}

Status Weights::reorder(const Constant& constant) {
  const int base = baseOf(program_, constant.from);
  const void* from = blocks_[position(base)].data();
  Value rows;  // row-major, as the kernel was prepared for
  if (program_.tensors[position(base)].variable >= 0) {
    rows = PITWALL_TRY(withLayout(nullptr, valueOf(arrays_[position(base)]), nullptr, Phase::none));
    PITWALL_TRY(session_.engine().waitForVariable(rows.chunk->variable));
    from = rows.chunk->block.data();
    if (rows.chunk->block.size() < rows.spec().sizeBytes())
      return fail(ErrorCode::invalidInput,
                  fmt::format("the array '{}' was never written", program_.tensors[position(base)].name));
  }
  void* const to = PITWALL_TRY(placeOf(constant.to, constant.reorder->outputs()[0].sizeBytes()));
  const void* const inputs[] = {from};
  void* const outputs[] = {to};
  PITWALL_TRY(runKernelOn(session_, device_, constant.reorder, {.inputs = inputs, .outputs = outputs}));
  return waitForStream(session_, device_);  // other threads read the block, and `rows` may go
}

}  // namespace pitwall::graph
