// What the programs that train a network by an executor share: its arrays and weights, and the lines of MXNet's Speedometer.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "runtime/optimizer.h"
#include "runtime/pitwall.h"

namespace samples {

// The value; an error is printed and ends the program with code 2.
template <class T>
T must(pitwall::Result<T> result) {
  if (!result.has_value()) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, result.error().message.c_str());
    exit(2);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// Weights as MXNet's Xavier(rnd_type='gaussian', factor_type='in', magnitude=2).
inline void fill(pitwall::NDArray& array, const std::string& name, std::uint64_t seed) {
  using pitwall::Initialiser;
  const pitwall::Shape& shape = array.shape();
  Initialiser initialiser = Initialiser::constant(0);
  if (name.ends_with("_gamma") || name.ends_with("_var")) initialiser = Initialiser::constant(1);
  if (name.ends_with("_weight"))
    initialiser = Initialiser::normal(
        0, std::sqrt(2.0F * static_cast<float>(shape[0]) / static_cast<float>(shape.elements())));
  must(initialise(array, initialiser, seed));
}

// The arguments that are no parameters.
inline bool isInput(const std::string& argument) { return argument == "data" || argument == "softmax_label"; }

struct Training {
  std::map<std::string, pitwall::NDArray> arrays;  // data and softmax_label undefined until written
  std::unique_ptr<pitwall::Executor> executor;
  std::vector<pitwall::nn::ParameterPtr> parameters;
};

// For images of shape `data`, whose first extent is the batch.
inline Training prepare(pitwall::Session& session, const pitwall::Symbol& symbol, const pitwall::Shape& data,
                        std::uint64_t seed, pitwall::Device device = {}) {
  using namespace pitwall;
  const InferredShapes shapes = must(symbol.inferShapes({{"data", data}}));
  const InferredTypes types = must(symbol.inferTypes({{"data", DType::float32}}));
  Training training;
  Executor::Options options{.device = device, .seed = seed};
  const auto make = [&](const std::vector<std::string>& names, const std::vector<Shape>& of,
                        const std::vector<DType>& as) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      NDArray& array = training.arrays[names[i]];
      array = NDArray::empty(session, of[i], isInput(names[i]) ? MemoryTag::data : MemoryTag::weights, as[i],
                             device);
      if (!isInput(names[i])) fill(array, names[i], ++seed);
    }
  };
  make(symbol.arguments(), shapes.arguments, types.arguments);
  make(symbol.auxiliaryStates(), shapes.auxiliary_states, types.auxiliary_states);
  for (const std::string& name : symbol.arguments()) {
    if (isInput(name)) continue;
    NDArray& weight = training.arrays[name];
    weight.attachGradient();
    options.gradients[name] = {weight.gradient()};
    training.parameters.push_back(
        std::make_shared<nn::Parameter>(nn::Parameter{.name = name, .value = weight}));
  }
  training.executor = must(Executor::bind(session, symbol, training.arrays, options));
  return training;
}

// Prints speed and accuracy of one epoch, a line after every `shown_every` batches.
class Speedometer {
 public:
  Speedometer(int epoch, int shown_every) : epoch_(epoch), shown_every_(shown_every) {}

  // A batch is done: so many of its images were classified correctly.
  void add(std::int64_t images, std::int64_t correct) {
    images_ += images;
    correct_ += correct;
    if (++batches_ % shown_every_ != 0) return;
    const auto between = static_cast<double>(images_ - shown_images_);
    printf("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec\taccuracy=%f\n", epoch_, batches_ - shown_every_,
           batches_, between / secondsSince(shown_),
           static_cast<double>(correct_ - shown_correct_) / between);
    fflush(stdout);
    shown_ = Clock::now();
    shown_images_ = images_;
    shown_correct_ = correct_;
  }

  void finish() const {
    printf("Epoch[%d] Train-accuracy=%f\n", epoch_,
           static_cast<double>(correct_) / static_cast<double>(images_));
    printf("Epoch[%d] Time cost=%.3f\n", epoch_, secondsSince(began_));
    fflush(stdout);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double secondsSince(Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }

  const int epoch_, shown_every_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point shown_ = began_;
  int batches_ = 0;
  std::int64_t images_ = 0, correct_ = 0, shown_images_ = 0, shown_correct_ = 0;
};

}  // namespace samples
