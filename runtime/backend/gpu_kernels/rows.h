// Operators along rows: softmax, SoftmaxOutput, SoftmaxCrossEntropy.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/labels.h"
#include "runtime/backend/support/softmax_output.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// Element j of a row is at(row) + j * inner.
struct Rows {
  std::int64_t count, inner;
  PITWALL_DEVICE std::int64_t at(std::int64_t row) const { return row / inner * count * inner + row % inner; }
};

template <class E>
struct SoftmaxRow {
  Rows z;
  float temperature;
  bool logarithm;
  In<E> x;
  E* y;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t at = z.at(row), inner = z.inner;
    const float most =
        team.largest(z.count, [=, this](std::int64_t j) { return x[at + j * inner] / temperature; });
    const double sum = team.sum(z.count, [=, this](std::int64_t j) {
      return static_cast<double>(expf(x[at + j * inner] / temperature - most));
    });
    const float log_sum = logf(static_cast<float>(sum)), share = static_cast<float>(1 / sum);
    team.each(z.count, [=, this](std::int64_t j) {
      const float difference = x[at + j * inner] / temperature - most;
      y[at + j * inner] = stored<E>(logarithm ? difference - log_sum : expf(difference) * share);
    });
  }
};

template <class E>
struct SoftmaxGradientRow {
  Rows z;
  float temperature;
  bool logarithm;
  In<E> y, dy;
  E* dx;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t at = z.at(row), inner = z.inner;
    const double sum = team.sum(z.count, [=, this](std::int64_t j) {
      const std::int64_t i = at + j * inner;
      return static_cast<double>(logarithm ? dy[i] : y[i] * dy[i]);
    });
    const float total = static_cast<float>(sum);
    team.each(z.count, [=, this](std::int64_t j) {
      const std::int64_t i = at + j * inner;
      const float change = logarithm ? dy[i] - expf(y[i]) * total : y[i] * (dy[i] - total);
      dx[i] = stored<E>(change / temperature);
    });
  }
};

template <class L, class E>
GpuFunction makeOf(const SoftmaxDesc& d, Pass pass, Signature& s) {
  const AxisExtents e = axisExtents(s.inputs[0].shape, d.axis);
  const Rows z{e.count, e.inner};
  const std::int64_t rows = e.outer * e.inner;
  return [=, temperature = d.temperature, logarithm = d.logarithm](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.rows(rows, z.count,
                  SoftmaxGradientRow<E>{z, temperature, logarithm, arrayIn<E>(a, 0), arrayIn<E>(a, 1),
                                        arrayOut<E>(a, 0)});
    else
      launch.rows(rows, z.count,
                  SoftmaxRow<E>{z, temperature, logarithm, arrayIn<E>(a, 0), arrayOut<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(SoftmaxDesc)

PITWALL_DEVICE bool isLabel(float label, std::int64_t classes) {
  return label >= 0 && label < static_cast<float>(classes) &&
         static_cast<float>(static_cast<std::int64_t>(label)) == label;
}

// The factor of the gradient; one team checks all labels.
struct LabelScale {
  std::int64_t count, classes, batch, inner;
  float grad_scale, ignore_label;
  bool use_ignore;
  SoftmaxNormalization normalization;
  const float* labels;
  float* scale;
  GpuProblem* problem;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t) const {
    const double valid = team.sum(count, [=, this](std::int64_t i) {
      const bool ignored = use_ignore && labels[i] == ignore_label;
      if (!ignored && !isLabel(labels[i], classes)) report(problem, i, labels[i]);
      return labels[i] != ignore_label ? 1.0 : 0.0;
    });
    if (!team.isFirst()) return;
    double result = static_cast<double>(grad_scale);
    if (normalization == SoftmaxNormalization::valid) {
      result /= valid > 1 ? valid : 1;
    } else {
      if (normalization == SoftmaxNormalization::batch) result /= static_cast<double>(batch);
      result /= static_cast<double>(inner);
    }
    *scale = static_cast<float>(result);
  }
};

struct SoftmaxOutputGradient {
  Rows z;
  float alpha, others, ignore_label;
  bool use_ignore;
  const float *labels, *y, *scale;
  float* dx;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t inner = z.inner, row = i / (z.count * inner) * inner + i % inner;
    const std::int64_t j = i / inner % z.count;
    const float label = labels[row];
    const bool ignored = use_ignore && label == ignore_label;
    const float target = static_cast<float>(j) == label ? 1 - alpha : others;
    dx[i] = ignored ? 0 : (y[i] - target) * *scale;
  }
};

struct ProbabilityGradient {
  float scale;
  const float *labels, *y;
  float* dx;
  PITWALL_DEVICE void operator()(std::int64_t i) const { dx[i] = (y[i] - labels[i]) * scale; }
};

template <class L>
GpuFunction softmaxOutputGradient(const SoftmaxOutputDesc& d, const AxisExtents& e, Signature& s) {
  s.workspace_bytes = 64;
  const std::int64_t n = s.outputs[0].shape.elements();
  const float others = e.count > 1 ? d.smooth_alpha / static_cast<float>(e.count - 1) : 0;
  return {[=](const KernelArgs& a) {
            L launch(a.context);
            auto* const scale = static_cast<float*>(a.context.workspace);
            const std::int64_t labels = e.outer * e.inner;
            launch.rows(1, labels,
                        LabelScale{labels, e.count, e.outer, e.inner, d.grad_scale, d.ignore_label,
                                   d.use_ignore, d.normalization, input(a, 0), scale, a.context.problem});
            launch.each(n, SoftmaxOutputGradient{{e.count, e.inner},
                                                 d.smooth_alpha,
                                                 others,
                                                 d.ignore_label,
                                                 d.use_ignore,
                                                 input(a, 0),
                                                 input(a, 1),
                                                 scale,
                                                 output(a, 0)});
            return launch.status();
          },
          [classes = e.count](const GpuProblem& p) -> Status {
            return badLabel("SoftmaxOutput", p.index, p.value, classes);
          }};
}

template <class L>
GpuFunction make(const SoftmaxOutputDesc& d, Pass pass, Signature& s) {
  const AxisExtents e = softmaxExtents(d, s.outputs[0].shape);
  if (pass != Pass::backward)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.rows(e.outer * e.inner, e.count,
                  SoftmaxRow<float>{{e.count, e.inner}, 1, false, arrayIn<float>(a, 0), output(a, 0)});
      return launch.status();
    };
  if (s.inputs[0].shape != s.inputs[1].shape) return softmaxOutputGradient<L>(d, e, s);
  return [n = s.outputs[0].shape.elements(), scale = d.grad_scale](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n, ProbabilityGradient{scale, input(a, 0), input(a, 1), output(a, 0)});
    return launch.status();
  };
}

struct CrossEntropyRow {
  std::int64_t classes;
  const float *x, *labels;
  float *loss, *probability;
  GpuProblem* problem;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const float* from = x + row * classes;
    float* to = probability + row * classes;
    const float most = team.largest(classes, [=](std::int64_t j) { return from[j]; });
    const double sum =
        team.sum(classes, [=](std::int64_t j) { return static_cast<double>(expf(from[j] - most)); });
    const float share = static_cast<float>(1 / sum);
    team.each(classes, [=](std::int64_t j) { to[j] = expf(from[j] - most) * share; });
    if (!team.isFirst()) return;
    const float label = labels[row];
    if (!isLabel(label, classes)) return report(problem, row, label);
    loss[row] = logf(static_cast<float>(sum)) - (from[static_cast<std::int64_t>(label)] - most);
  }
};

struct CrossEntropyGradient {
  std::int64_t classes;
  const float *probability, *labels, *dloss;
  float* dx;
  GpuProblem* problem;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = i / classes, j = i % classes;
    const float label = labels[row];
    if (j == 0 && !isLabel(label, classes)) report(problem, row, label);
    dx[i] = (probability[i] - (static_cast<float>(j) == label ? 1.0F : 0.0F)) * dloss[row];
  }
};

template <class L>
GpuFunction make(const SoftmaxCrossEntropyDesc&, Pass pass, Signature& s) {
  const std::int64_t samples = s.inputs[0].shape[0], classes = s.inputs[0].shape[1];
  return {[=](const KernelArgs& a) {
            L launch(a.context);
            if (pass == Pass::backward)
              launch.each(samples * classes,
                          CrossEntropyGradient{classes, input(a, 0), input(a, 1), input(a, 2), output(a, 0),
                                               a.context.problem});
            else
              launch.rows(samples, classes,
                          CrossEntropyRow{classes, input(a, 0), input(a, 1), output(a, 0), output(a, 1),
                                          a.context.problem});
            return launch.status();
          },
          [classes](const GpuProblem& p) -> Status {
            return badLabel("SoftmaxCrossEntropy", p.index, p.value, classes);
          }};
}

}  // namespace pitwall::gpu_kernels
