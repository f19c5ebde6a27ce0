// BatchNorm in training, with a relu or without. A group of channels is read for its statistics and at once again for its result, which
// for most sizes is then in a cache. The gradient of a relu follows from the data, so that no array is kept for it.
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/backend/cpu_kernels/norm_loops.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

namespace pitwall::cpu_kernels {
namespace {

std::optional<NormGroups> groupsOf(const TensorSpec& data) {
  const Shape& shape = data.shape;
  const std::int64_t batch = shape[0], channels = shape[1], pixels = shape.elements() / (batch * channels);
  const std::int64_t together = data.layout != nullptr ? data.layout->channelsTogether()
                                : pixels == 1          ? channels
                                                       : 1;
  if (together == channels && (pixels == 1 || channels > 1)) {
    const std::int64_t lanes = std::min(channels, kMostGroupChannels);
    return NormGroups{batch * pixels, (channels + lanes - 1) / lanes, channels, lanes, 1, lanes, channels};
  }
  if (together != 1 && together != 8 && together != 16) return std::nullopt;
  const std::int64_t groups = (channels + together - 1) / together, each = pixels * together;
  return NormGroups{batch, groups, groups * each, each, pixels, together, channels};
}

class TrainingNorm {
 public:
  TrainingNorm(const BatchNormDesc& desc, Pass pass, const NormGroups& groups, std::int64_t parallel_elements)
      : d_(desc), backward_(pass == Pass::backward), z_(groups), parallel_elements_(parallel_elements) {}

  Bytes workspaceBytes() const { return mostParts() * sumsOfPart() * static_cast<Bytes>(sizeof(double)); }

  Status run(const KernelArgs& a) const {
    const NormArrays arrays{input(a, 0), backward_ ? input(a, 4) : nullptr, output(a, 0),
                            d_.relu ? 0 : -std::numeric_limits<float>::infinity()};
    const std::int64_t parts = partsFor(a.context.threads), rows = (z_.rows + parts - 1) / parts;
    const auto part = [&](std::int64_t unit) {
      const std::int64_t at = unit / z_.groups * rows;
      return NormPart{unit % z_.groups, std::min(z_.rows, at), std::min(z_.rows, at + rows)};
    };
    const auto over = [&](std::int64_t units, auto body) {
      parallelFor(units, Split::ofRows(parallel_elements_, rows * z_.pixels * z_.lanes, a),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t unit = begin; unit < end; ++unit) body(unit);
                  });
    };
    if (parts == 1) {
      over(z_.groups, [&](std::int64_t unit) {
        sum(a, arrays, part(unit), 0);
        finish(a, unit, 1);
        map(a, arrays, part(unit));
      });
      return {};
    }
    over(z_.groups * parts, [&](std::int64_t unit) { sum(a, arrays, part(unit), unit / z_.groups); });
    for (std::int64_t group = 0; group < z_.groups; ++group) finish(a, group, parts);
    over(z_.groups * parts, [&](std::int64_t unit) { map(a, arrays, part(unit)); });
    return {};
  }

 private:
  bool sumsUp() const { return backward_ || !d_.use_global_stats; }
  std::int64_t sumsOfPart() const { return z_.groups * z_.lanes * 2; }
  std::int64_t mostParts() const { return std::clamp<std::int64_t>(256 / z_.groups, 1, z_.rows); }

  // One where the groups alone keep all threads busy.
  std::int64_t partsFor(int threads) const {
    if (threads <= 1 || z_.groups % threads == 0 || z_.groups >= 4 * threads) return 1;
    return std::clamp<std::int64_t>((4 * threads + z_.groups - 1) / z_.groups, 1, mostParts());
  }

  // Two numbers for each channel of the group.
  double* sumsAt(const KernelArgs& a, std::int64_t group, std::int64_t part) const {
    return static_cast<double*>(a.context.workspace) + part * sumsOfPart() + group * z_.lanes * 2;
  }

  void sum(const KernelArgs& a, const NormArrays& arrays, const NormPart& part, std::int64_t number) const {
    if (!sumsUp()) return;
    NormSums sums;
    const NormConstants own =
        backward_ ? constants(a, part.group, nullptr) : firstElements(arrays, part.group);
    best_({backward_ ? NormStage::sumSlopes : NormStage::sumDifferences, z_, part, arrays, own, sums});
    double* const to = sumsAt(a, part.group, number);
    std::fill_n(to, z_.lanes * 2, 0.0);
    const std::size_t lanes = static_cast<std::size_t>(z_.lanes);
    for (std::size_t lane = 0; lane < sums.first.size(); ++lane) {
      const std::size_t channel = lanes == 1 ? 0 : lane;  // the lanes of one channel together
      if (channel >= lanes) break;
      to[2 * channel] += sums.first[lane];
      to[2 * channel + 1] += sums.second[lane];
    }
  }

  NormConstants firstElements(const NormArrays& arrays, std::int64_t group) const {
    NormConstants own;
    std::copy_n(arrays.x + group * z_.group_stride, z_.channelsOf(group), own.mean.begin());
    return spread(own);
  }

  // Adds up the parts, in the place of the first, and writes what has an element for each channel.
  void finish(const KernelArgs& a, std::int64_t group, std::int64_t parts) const {
    const std::int64_t first = z_.firstChannel(group);
    for (std::int64_t i = 0; i < z_.channelsOf(group); ++i) {
      double* const sums = sumsAt(a, group, 0) + 2 * i;
      for (std::int64_t part = 1; part < parts && sumsUp(); ++part) {
        sums[0] += sumsAt(a, group, part)[2 * i];
        sums[1] += sumsAt(a, group, part)[2 * i + 1];
      }
      const std::int64_t c = first + i;
      if (backward_) {
        sums[1] /= std::sqrt(static_cast<double>(input(a, 3)[c]) + static_cast<double>(d_.epsilon));
        output(a, 1)[c] = d_.fix_gamma ? 0 : static_cast<float>(sums[1]);
        output(a, 2)[c] = static_cast<float>(sums[0]);
      } else if (d_.use_global_stats) {
        output(a, 1)[c] = output(a, 3)[c];
        output(a, 2)[c] = output(a, 4)[c];
      } else {
        const double count = static_cast<double>(z_.perChannel()), centre = sums[0] / count;
        const float at_first = input(a, 0)[group * z_.group_stride + i];
        blend(a, c, static_cast<double>(at_first) + centre, std::max(0.0, sums[1] / count - centre * centre));
      }
    }
  }

  // r = momentum * r + (1 - momentum) * batch
  void blend(const KernelArgs& a, std::int64_t c, double mean, double variance) const {
    const double m = static_cast<double>(d_.momentum);
    const auto toward = [m](float& running, double batch) {
      running = static_cast<float>(m * static_cast<double>(running) + (1 - m) * batch);
    };
    output(a, 1)[c] = static_cast<float>(mean);
    output(a, 2)[c] = static_cast<float>(variance);
    toward(output(a, 3)[c], mean);
    toward(output(a, 4)[c], variance);
  }

  void map(const KernelArgs& a, const NormArrays& arrays, const NormPart& part) const {
    NormSums none;
    best_({backward_ ? NormStage::slope : NormStage::normalise, z_, part, arrays,
           constants(a, part.group, sumsAt(a, part.group, 0)), none});
  }

  // Of a group of one channel, its numbers for all lanes.
  NormConstants spread(NormConstants own) const {
    if (z_.lanes != 1) return own;
    for (GroupNumbers* numbers : {&own.mean, &own.scale, &own.shift, &own.through, &own.by_normal})
      numbers->fill(numbers->front());
    return own;
  }

  // `sums`: finished; null before, when `through` and `by_normal` are not known.
  NormConstants constants(const KernelArgs& a, std::int64_t group, const double* sums) const {
    NormConstants own;
    const float* mean = backward_ ? input(a, 2) : output(a, 1);
    const float* variance = backward_ ? input(a, 3) : output(a, 2);
    const float* beta = !backward_ ? input(a, 2) : d_.relu ? input(a, 5) : nullptr;
    const double share = 1 / static_cast<double>(z_.perChannel());
    // Padding has no channel, and its numbers stay 0.
    for (std::int64_t i = 0; i < z_.channelsOf(group); ++i) {
      const std::int64_t c = z_.firstChannel(group) + i;
      const auto lane = static_cast<std::size_t>(i);
      const double inverse =
          1 / std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(d_.epsilon));
      own.mean[lane] = mean[c];
      own.scale[lane] =
          static_cast<float>((d_.fix_gamma ? 1 : static_cast<double>(input(a, 1)[c])) * inverse);
      own.shift[lane] = beta != nullptr ? beta[c] : 0;
      // Mean and variance depend on the data, unless they are the running ones.
      if (!backward_ || d_.use_global_stats || sums == nullptr) continue;
      own.through[lane] = static_cast<float>(sums[2 * i] * share);
      own.by_normal[lane] = static_cast<float>(sums[2 * i + 1] * share * inverse);
    }
    return spread(own);
  }

  const BatchNormDesc d_;
  const bool backward_;
  const NormGroups z_;
  const std::int64_t parallel_elements_;
  const NormFunction best_ = normFunctions().front();
};

}  // namespace

RunFunction make(const BatchNormDesc& desc, const Request& r, Signature& s) {
  const TensorSpec& data = r.inputs[0];
  if (r.pass == Pass::inference || data.dtype != DType::float32) return nullptr;
  auto groups = groupsOf(data);
  const LayoutPtr layout = groups ? data.layout : nullptr;
  if (!groups) groups = groupsOf(s.inputs[0]);  // row-major
  s.inputs[0].layout = s.outputs[0].layout = layout;
  if (r.pass == Pass::backward) s.inputs[4].layout = layout;
  const TrainingNorm norm(desc, r.pass, *groups, r.options.parallel_elements);
  s.workspace_bytes = norm.workspaceBytes();
  return [norm](const KernelArgs& a) { return norm.run(a); };
}

}  // namespace pitwall::cpu_kernels
