// Images per second of inference, for the networks of the documents' tables, with synthetic data.
// PITWALL_TRACE=score.pitwall in the environment records the run for `pitwall analyze score.pitwall`.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <map>

#include "runtime/executor.h"
#include "runtime/models.h"
#include "runtime/pitwall.h"

using namespace pitwall;

namespace {

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) fprintf(stderr, "benchmark_score: %s\n", result.error().message.c_str()), exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// Values that do not grow or vanish from layer to layer; variances of 1.
NDArray parameter(Session& session, const std::string& name, const Shape& shape, std::uint32_t& seed) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  const auto endsWith = [&name](const char* end) { return name.ends_with(end); };
  const float fan_in = static_cast<float>(shape.rank() > 0 ? shape.elements() / shape[0] : 1);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    const float uniform = static_cast<float>(seed >> 8U) / 8388608.0F - 1.0F;  // -1 to 1
    value = uniform * std::sqrt(6.0F / fan_in);
    if (endsWith("_gamma") || endsWith("_var")) value = 1.0F;
    if (endsWith("_beta") || endsWith("_bias") || endsWith("_mean")) value = uniform * 0.1F;
  }
  return NDArray::fromValues(session, shape, values, MemoryTag::weights);
}

struct Row {
  std::string network;
  std::int64_t batch = 1;
  double images_per_second = 0, gflops_per_second = 0;
  Executor::Memory memory;
};

Row score(Session& session, const std::string& network, std::int64_t batch, double seconds) {
  const Symbol symbol = must(models::make(network));
  std::int64_t size = 224;
  for (const models::Model& known : models::all())
    if (network == known.name) size = known.image_size;
  const Shape input{batch, 3, size, size};
  const InferredShapes shapes = must(symbol.inferShapes({{"data", input}}));
  std::map<std::string, NDArray> arrays;
  std::uint32_t seed = 1;
  const auto make = [&](const std::vector<std::string>& names, const std::vector<Shape>& of) {
    for (std::size_t i = 0; i < names.size(); ++i)
      arrays[names[i]] = parameter(session, names[i], of[i], seed);
  };
  make(symbol.arguments(), shapes.arguments);
  make(symbol.auxiliaryStates(), shapes.auxiliary_states);
  const auto executor = must(Executor::bind(session, symbol, arrays));
  const auto pass = [&] {
    must(executor->forward());
    must(executor->outputs()[0].waitToRead());
  };
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) pass();
  const auto began = Clock::now();
  int passes = 0;
  double took = 0;
  for (; took < seconds || passes < 3; ++passes) {
    session.markIteration(batch);
    pass();
    took = std::chrono::duration<double>(Clock::now() - began).count();
  }
  const double flop = static_cast<double>(must(symbol.forwardFlop({{"data", input}})));
  return {network, batch, static_cast<double>(batch) * passes / took, flop * passes / took * 1e-9,
          executor->memory()};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> networks{"all"};
  std::vector<std::int64_t> batches{1, 2, 4, 8, 16, 32};
  double seconds = 3;
  std::string format = "text", folder;
  CLI::App app("Images per second of inference with synthetic data.");
  app.add_option("--network", networks, "networks, or all [all]")->delimiter(',');
  app.add_option("--batch-size", batches, "images in a batch [1,2,4,8,16,32]")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  app.add_option("--seconds", seconds, "at least, for each row [3]")->check(CLI::PositiveNumber);
  app.add_option("--format", format, "text, csv or json [text]")
      ->check(CLI::IsMember({"text", "csv", "json"}));
  app.add_option("--write", folder, "also write each network as NAME-symbol.json of MXNet into this folder");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (networks == std::vector<std::string>{"all"})
    networks = {"alexnet", "vgg-16", "inception-bn", "inception-v3", "resnet-50", "resnet-152"};
  const auto session = must(Session::open());
  if (format == "csv")
    printf("network,batch,images_per_second,gflops_per_second,planned_bytes,constant_bytes\n");
  if (format == "text")
    printf("%-14s %6s %12s %12s %12s %12s\n", "network", "batch", "images/s", "GFLOP/s", "planned MiB",
           "constant MiB");
  const char* separator = "[";
  for (const std::string& network : networks) {
    if (!folder.empty()) must(must(models::make(network)).save(folder + "/" + network + "-symbol.json"));
    for (const std::int64_t batch : batches) {
      const Row row = score(*session, network, batch, seconds);
      const double planned = static_cast<double>(row.memory.planned),
                   constants = static_cast<double>(row.memory.constants);
      if (format == "csv") {
        printf("%s,%lld,%.3f,%.3f,%.0f,%.0f\n", network.c_str(), static_cast<long long>(batch),
               row.images_per_second, row.gflops_per_second, planned, constants);
      } else if (format == "json") {
        printf(
            "%s{\"network\":\"%s\",\"batch\":%lld,\"images_per_second\":%.3f,\"gflops_per_second\":%.3f,"
            "\"planned_bytes\":%.0f,\"constant_bytes\":%.0f}",
            separator, network.c_str(), static_cast<long long>(batch), row.images_per_second,
            row.gflops_per_second, planned, constants);
        separator = ",\n";
      } else {
        printf("%-14s %6lld %12.1f %12.1f %12.1f %12.1f\n", network.c_str(), static_cast<long long>(batch),
               row.images_per_second, row.gflops_per_second, planned / 1048576, constants / 1048576);
      }
      fflush(stdout);
    }
  }
  if (format == "json") printf("%s\n", *separator == '[' ? "[]" : "]");
  must(session->finish());
}
