#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "db/try.h"
#include "runtime/optimizer.h"
#include "runtime/optimizer_choice.h"

namespace pitwall {
namespace {

using Parameters = std::vector<nn::ParameterPtr>;
using Option = std::pair<std::string_view, float*>;

// Sets the named options. Errors: invalidInput for one that the optimizer does not have.
Status readOptions(const OptimizerChoice& choice, std::initializer_list<Option> known) {
  for (const auto& [name, value] : choice.options) {
    float* place = nullptr;
    std::string names;
    for (const auto& [option, target] : known) {
      names += (names.empty() ? "" : ", ") + std::string(option);
      if (option == name) place = target;
    }
    if (place == nullptr)
      return fail(ErrorCode::invalidInput,
                  fmt::format("optimizer {}: no option '{}'; it has {}", choice.name, name, names));
    *place = value;
  }
  return {};
}

template <class Kind>
Result<std::unique_ptr<Optimizer>> withMomentum(const OptimizerChoice& choice, Parameters parameters) {
  SgdOptions options;
  float multi_precision = 0;
  PITWALL_TRY(readOptions(choice, {{"learning_rate", &options.rate},
                                   {"momentum", &options.momentum},
                                   {"wd", &options.weight_decay},
                                   {"multi_precision", &multi_precision}}));
  auto made = std::make_unique<Kind>(std::move(parameters), options);
  made->useMultiPrecision(multi_precision != 0);
  return std::unique_ptr<Optimizer>(std::move(made));
}

Result<std::unique_ptr<Optimizer>> makeAdam(const OptimizerChoice& choice, Parameters parameters) {
  AdamOptions options;
  float multi_precision = 0;
  PITWALL_TRY(readOptions(choice, {{"learning_rate", &options.rate},
                                   {"beta1", &options.beta1},
                                   {"beta2", &options.beta2},
                                   {"epsilon", &options.epsilon},
                                   {"wd", &options.weight_decay},
                                   {"multi_precision", &multi_precision}}));
  auto made = std::make_unique<Adam>(std::move(parameters), options);
  made->useMultiPrecision(multi_precision != 0);
  return std::unique_ptr<Optimizer>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<Optimizer>> makeOptimizer(const OptimizerChoice& choice, Parameters parameters) {
  if (choice.name == "sgd") return withMomentum<Sgd>(choice, std::move(parameters));
  if (choice.name == "nag") return withMomentum<Nag>(choice, std::move(parameters));
  if (choice.name == "adam") return makeAdam(choice, std::move(parameters));
  return fail(ErrorCode::notFound,
              fmt::format("no optimizer '{}'; there are sgd, nag and adam", choice.name));
}

}  // namespace pitwall
