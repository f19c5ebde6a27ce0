// The list of backends in this build.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/machine.h"
#include "runtime/backend.h"
#include "runtime/backend/null/backend.h"
#include "runtime/backend/onednn/backend.h"
#include "runtime/backend/reference/backend.h"

namespace pitwall {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);
};

constexpr Entry kEntries[] = {
    // best first
    {"onednn", makeOnednnBackend},
    {"reference", makeReferenceBackend},
    {"null", makeNullBackend},
};

}  // namespace

namespace {

OperatorTuningOptions tuningOptions(const Settings& settings) {
  OperatorTuningOptions options;
  const bool by_other_name =
      !settings.isSet("MXNET_USE_OPERATOR_TUNING") && settings.isSet("MXNET_ENABLE_OPERATOR_TUNING");
  options.is_on =
      settings.boolean(by_other_name ? "MXNET_ENABLE_OPERATOR_TUNING" : "MXNET_USE_OPERATOR_TUNING");
  if (settings.isSet("MXNET_USE_NUM_CORES_OPERATOR_TUNING"))
    options.cores = static_cast<int>(settings.integer("MXNET_USE_NUM_CORES_OPERATOR_TUNING"));
  options.scale = settings.real("MXNET_TUNING_WEIGHT_SCALE");
  options.prints_decisions = settings.boolean("MXNET_VERBOSE_TUNING_INFO");
  options.prints_measurements = settings.boolean("MXNET_OUTPUT_TUNING_DATA");
  return options;
}

BackendOptions optionsOf(const Settings& settings) {
  BackendOptions options;
  const bool by_other_name =
      settings.isSet("MXNET_ONEDNN_CACHE_NUM") && !settings.isSet("MXNET_MKLDNN_CACHE_NUM");
  options.cached_kernels =
      settings.integer(by_other_name ? "MXNET_ONEDNN_CACHE_NUM" : "MXNET_MKLDNN_CACHE_NUM");
  options.library_rnn = settings.boolean("MXNET_USE_MKLDNN_RNN");
  options.safe_accumulation = settings.boolean("MXNET_SAFE_ACCUMULATION");
  options.plain_dense_weights = settings.boolean("MXNET_MKLDNN_FORCE_FC_AB_FORMAT");
  options.compares = settings.boolean("MXNET_MKLDNN_DEBUG");
  options.parallel_elements = settings.integer("MXNET_CPU_PARALLEL_SIZE");
  options.fixed_parallel_elements = settings.isSet("MXNET_CPU_PARALLEL_SIZE");
  options.tuning = tuningOptions(settings);
  options.measure_kernels =
      settings.boolean("PITWALL_MEASURE_KERNELS") && !settings.boolean("MXNET_ENFORCE_DETERMINISM");
  options.kernel_choices_file = settings.text("PITWALL_KERNEL_CHOICES");
  if (const std::string folder = cacheFolder(); options.kernel_choices_file.empty() && !folder.empty())
    options.kernel_choices_file = folder + "/kernels.txt";
  if (settings.isSet("MXNET_CPU_NNPACK_NTHREADS"))
    options.winograd_threads = static_cast<int>(settings.integer("MXNET_CPU_NNPACK_NTHREADS"));
  return options;
}

}  // namespace

const char* toString(Pass pass) {
  switch (pass) {
    case Pass::inference: return "inference";
    case Pass::forward: return "forward";
    case Pass::backwardData: return "backwardData";
    case Pass::backwardWeights: return "backwardWeights";
    case Pass::backward: return "backward";
  }
  return "unknown";
}

std::vector<std::string_view> backendNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Backend>> openBackend(std::string_view name, const Settings& settings) {
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    try {
      return entry.make(optionsOf(settings));
    } catch (const std::exception& error) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' cannot be created: {}", name, error.what()));
    }
  }
  return fail(ErrorCode::notFound, fmt::format("there is no backend '{}'; this build has {}", name,
                                               fmt::join(backendNames(), ", ")));
}

}  // namespace pitwall
