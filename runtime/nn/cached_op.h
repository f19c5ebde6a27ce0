// A network as one operator: its graph, with an executor for each shape of the data.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "runtime/nn.h"

namespace pitwall::nn {

class CachedOp {
 public:
  static constexpr const char* kData = "data";  // the variable of the graph that takes the data
  static constexpr std::size_t kMaxExecutors = 16;

  // `graph` has one output; its other variables have the names of the parameters.
  CachedOp(Symbol graph, std::vector<ParameterPtr> parameters, const HybridizeOptions& options)
      : graph_(std::move(graph)), parameters_(std::move(parameters)), options_(options) {}

  // As Layer::forward().
  Result<NDArray> call(const NDArray& data);

  // The memory of executors that are not between forward() and backward() at the same time.
  struct Memory {
    bool in_use = false;
  };
  struct Entry {
    Shape shape;
    Device device;
    bool training = false, wants_data_gradient = false;
    std::vector<const void*> arrays = {};  // of the parameters and their gradients
    std::shared_ptr<Memory> memory = nullptr;
    std::unique_ptr<Executor> executor = nullptr;
    bool isFor(const Entry& other) const {
      return shape == other.shape && device == other.device && training == other.training &&
             wants_data_gradient == other.wants_data_gradient && arrays == other.arrays;
    }
  };
  using EntryPtr = std::shared_ptr<Entry>;

 private:
  Status makeParameters(const NDArray& data);
  Entry wanted(const NDArray& data) const;
  Result<EntryPtr> entryFor(Entry key, const NDArray& data);
  Result<std::unique_ptr<Executor>> bind(const Entry& entry, const NDArray& data,
                                         const Executor* share_with) const;

  const Symbol graph_;
  const std::vector<ParameterPtr> parameters_;
  const HybridizeOptions options_;
  bool has_parameters_ = false;
  std::vector<EntryPtr> entries_;  // the one that was used last at the end
};

}  // namespace pitwall::nn
