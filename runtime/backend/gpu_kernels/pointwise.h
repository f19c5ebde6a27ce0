// Chains of functions of each element (Pointwise), which a thread computes for 16 bytes of each array at once.
#pragma once

#include <algorithm>
#include <type_traits>

#include "runtime/backend/gpu_kernels/channel_vectors.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// A function and its operands, as plain values.
struct PointwiseStep {
  PointwiseDesc::Function function;
  std::uint8_t first, second;
  float alpha, beta;

  // apply(f) with the function f(a, b): the choice is made once for all elements.
  template <class Apply>
  PITWALL_DEVICE void choose(const Apply& apply) const {
    using enum PointwiseDesc::Function;
    const float p = alpha, q = beta;
    switch (function) {
      case add: return apply([](float a, float b) { return a + b; });
      case subtract: return apply([](float a, float b) { return a - b; });
      case multiply: return apply([](float a, float b) { return a * b; });
      case divide: return apply([](float a, float b) { return a / b; });
      case maximum: return apply([](float a, float b) { return larger(a, b); });
      case minimum: return apply([](float a, float b) { return smaller(a, b); });
      case linear: return apply([p, q](float a, float) { return p * a + q; });
      case reciprocal: return apply([p](float a, float) { return p / a; });
      case clip: return apply([p, q](float a, float) { return limited(a, p, q); });
      case relu: return apply([](float a, float) { return a > 0 ? a : 0.0F; });
      case sigmoid: return apply([](float a, float) { return sigmoidOf(a); });
      case tanh: return apply([](float a, float) { return tanhf(a); });
      case softrelu: return apply([](float a, float) { return softreluOf(a); });
      case reluGradient: return apply([](float a, float b) { return b > 0 ? a : 0.0F; });
      case sigmoidGradient: return apply([](float a, float b) { return a * b * (1 - b); });
      case tanhGradient: return apply([](float a, float b) { return a * (1 - b * b); });
      case softreluGradient: return apply([](float a, float b) { return a * sigmoidOf(b); });
      case clipGradient: return apply([p, q](float a, float b) { return b > p && b < q ? a : 0.0F; });
    }
  }
};

// f(0), ... f(kEnd - 1), with numbers that are constants in f.
template <int kEnd, int kFirst = 0, class F>
PITWALL_DEVICE void forEachConstant(const F& f) {
  if constexpr (kFirst < kEnd) {
    f(std::integral_constant<int, kFirst>{});
    forEachConstant<kEnd, kFirst + 1>(f);
  }
}

// Each element by itself, or vectors of them.
template <class E>
struct PointwiseProgram {
  using Desc = PointwiseDesc;
  static constexpr int kMostValues = static_cast<int>(Desc::kMostInputs + Desc::kMostInstructions);
  int inputs, steps, outputs;
  PointwiseStep step[Desc::kMostInstructions];
  std::uint8_t shown[Desc::kMostOutputs];
  const E* from[Desc::kMostInputs];
  E* to[Desc::kMostOutputs];

  int values() const { return inputs + steps; }

  // V: a type of neighbouring elements, at index i of arrays of such. kValues: at least values(); a small number keeps them
  // all in registers, which have no index: a value is then found by comparing its number with each.
  template <class V, int kCount, int kValues>
  PITWALL_DEVICE void run(std::int64_t i) const {
    float value[kValues][kCount];
    if constexpr (kValues == kMostValues) {
      for (int n = 0; n < inputs; ++n) load(reinterpret_cast<const V*>(from[n])[i], value[n]);
      for (int s = 0; s < steps; ++s)
        compute(step[s], value[step[s].first], value[step[s].second], value[inputs + s]);
      for (int o = 0; o < outputs; ++o) store<V>(value[shown[o]], o, i);
    } else {
      V read[kValues] = {};
      forEachConstant<kValues>([&](auto n) {
        if (n < inputs) read[n] = reinterpret_cast<const V*>(from[n])[i];
      });
      forEachConstant<kValues>([&](auto n) {
        if (n < inputs) return load(read[n], value[n]);
        if (n >= inputs + steps) return;
        float a[kCount], b[kCount];
        find<n>(value, step[n - inputs].first, a);
        find<n>(value, step[n - inputs].second, b);
        compute(step[n - inputs], a, b, value[n]);
      });
      for (int o = 0; o < outputs; ++o) {
        float made[kCount];
        find<kValues>(value, shown[o], made);
        store<V>(made, o, i);
      }
    }
  }

 private:
  template <class V, int kCount>
  PITWALL_DEVICE static void load(const V& read, float (&value)[kCount]) {
    for (int k = 0; k < kCount; ++k) value[k] = loaded(reinterpret_cast<const E*>(&read)[k]);
  }
  template <int kCount>
  PITWALL_DEVICE static void compute(const PointwiseStep& s, const float (&a)[kCount],
                                     const float (&b)[kCount], float (&result)[kCount]) {
    s.choose([&](auto function) {
      for (int k = 0; k < kCount; ++k) result[k] = function(a[k], b[k]);
    });
  }
  template <class V, int kCount>
  PITWALL_DEVICE void store(const float (&value)[kCount], int output, std::int64_t i) const {
    V made;
    for (int k = 0; k < kCount; ++k) reinterpret_cast<E*>(&made)[k] = stored<E>(value[k]);
    reinterpret_cast<V*>(to[output])[i] = made;
  }
  // Value `number` of the first kEnd.
  template <int kEnd, int kValues, int kCount>
  PITWALL_DEVICE static void find(const float (&value)[kValues][kCount], int number, float (&found)[kCount]) {
    forEachConstant<kEnd>([&](auto n) {
      if (n == 0 || n == number)
        for (int k = 0; k < kCount; ++k) found[k] = value[n][k];
    });
  }
};

template <class E>
struct PointwiseElements {
  PointwiseProgram<E> program;
  std::int64_t first;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    program.template run<E, 1, PointwiseProgram<E>::kMostValues>(first + i);
  }
};

template <class E, int kValues>
struct PointwiseVectors {
  PointwiseProgram<E> program;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    program.template run<Vector<E>, Vector<E>::kCount, kValues>(i);
  }
};

template <class L, class E>
void launchVectors(L& launch, const PointwiseProgram<E>& program, std::int64_t vectors) {
  const int values = program.values();
  if (values <= 3) return launch.each(vectors, PointwiseVectors<E, 3>{program});
  if (values <= 4) return launch.each(vectors, PointwiseVectors<E, 4>{program});
  if (values <= 6) return launch.each(vectors, PointwiseVectors<E, 6>{program});
  launch.each(vectors, PointwiseVectors<E, PointwiseProgram<E>::kMostValues>{program});
}

template <class L, class E>
GpuFunction makeOf(const PointwiseDesc& d, Pass, Signature& s) {
  PointwiseProgram<E> program{};
  program.inputs = d.inputs;
  program.steps = static_cast<int>(d.instructions.size());
  program.outputs = static_cast<int>(d.outputs.size());
  for (std::size_t k = 0; k < d.instructions.size(); ++k) {
    const auto& i = d.instructions[k];
    program.step[k] = {i.function, i.a, i.b, i.alpha, i.beta};
  }
  std::copy(d.outputs.begin(), d.outputs.end(), program.shown);
  return [program, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    PointwiseProgram<E> run = program;
    for (int k = 0; k < run.inputs; ++k) run.from[k] = arrayIn<E>(a, static_cast<std::size_t>(k)).at;
    for (int k = 0; k < run.outputs; ++k) run.to[k] = arrayOut<E>(a, static_cast<std::size_t>(k));
    L launch(a.context);
    const std::int64_t vectors = n / Vector<E>::kCount, done = vectors * Vector<E>::kCount;
    launchVectors(launch, run, vectors);
    launch.each(n - done, PointwiseElements<E>{run, done});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(PointwiseDesc)

}  // namespace pitwall::gpu_kernels
