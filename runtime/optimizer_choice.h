// An optimizer by its name and options, as command lines and stores give them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/result.h"

namespace pitwall {

class Optimizer;
namespace nn {
struct Parameter;
}

// Names and options as MXNet spells them: "sgd" and "nag" (learning_rate, momentum, wd), "adam" (learning_rate, beta1, beta2, epsilon,
// wd); all have multi_precision, 0 or 1. Options that are not named have the defaults of runtime/optimizer.h.
struct OptimizerChoice {
  std::string name = "sgd";
  std::vector<std::pair<std::string, float>> options = {};
};

// Errors: notFound for another name, invalidInput for another option; both list what there is.
Result<std::unique_ptr<Optimizer>> makeOptimizer(const OptimizerChoice& choice,
                                                 std::vector<std::shared_ptr<nn::Parameter>> parameters = {});

}  // namespace pitwall
