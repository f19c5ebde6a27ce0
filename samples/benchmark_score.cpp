// Images per second of inference, for the networks of the documents' tables and of the model zoo, with synthetic data.
// PITWALL_TRACE=score.pitwall in the environment records the run for `pitwall analyze score.pitwall`; --record a trace of each row.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>

#include "db/json_string.h"
#include "runtime/executor.h"
#include "runtime/mixed_precision.h"
#include "runtime/models.h"
#include "runtime/pitwall.h"
#include "runtime/quantization.h"
#include "samples/published_scores.h"

using namespace pitwall;

namespace {

[[noreturn]] void giveUp(const std::string& message) {
  fprintf(stderr, "benchmark_score: %s\n", message.c_str());
  exit(2);
}

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) giveUp(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

struct Options {
  std::vector<std::string> networks{"table"};
  std::vector<std::int64_t> batches{1, 2, 4, 8, 16, 32};
  double seconds = 3;
  std::string format = "text", dtype = "float32", write_folder, record_folder, published;
  int gpu = -1;  // -1: the CPU
  Device device() const { return gpu < 0 ? cpu() : pitwall::gpu(gpu); }
};

// Values that do not grow or vanish from layer to layer; variances of 1.
NDArray parameter(Session& session, const std::string& name, const TensorSpec& spec, Device device,
                  std::uint32_t& seed) {
  const Shape& shape = spec.shape;
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
  NDArray array = NDArray::empty(session, shape, MemoryTag::weights, spec.dtype, device);
  must(array.copyFrom(values));
  return array;
}

struct Row {
  std::string network;
  std::int64_t batch = 1;
  double images_per_second = 0, gflops_per_second = 0;
  Executor::Memory memory;
  std::string trace;                // its file; "" = none
  std::optional<double> published;  // images per second
};

// On 8-bit numbers, with the ranges of the first of its images.
Symbol quantized(Session& session, const Symbol& symbol, std::map<std::string, NDArray> arrays,
                 Device device) {
  const NDArray data = arrays.extract("data").mapped();
  const Shape one{1, data.shape()[1], data.shape()[2], data.shape()[3]};
  const std::vector<float> values = must(data.toVector());
  const NDArray image =
      NDArray::fromValues(session, one, std::span(values).first(static_cast<std::size_t>(one.elements())));
  return must(quantize(session, symbol, arrays,
                       {.calibration = Calibration::naive, .batches = {image}, .device = device}));
}

Row score(Session& session, const Options& options, const std::string& network, std::int64_t batch) {
  Symbol symbol = must(models::make(network));
  if (options.gpu >= 0 && options.dtype.ends_with("float16"))
    symbol =
        must(castNetwork(symbol, {.type = options.dtype == "float16" ? DType::float16 : DType::bfloat16}));
  std::int64_t size = 224;
  for (const models::Model& known : models::all())
    if (network == known.name) size = known.image_size;
  const Shape input{batch, 3, size, size};
  const InferredShapes shapes = must(symbol.inferShapes({{"data", input}}));
  std::map<std::string, NDArray> arrays;
  std::uint32_t seed = 1;
  const InferredTypes types = must(symbol.inferTypes({{"data", DType::float32}}));
  const auto make = [&](const std::vector<std::string>& names, const std::vector<Shape>& of,
                        const std::vector<DType>& as) {
    for (std::size_t i = 0; i < names.size(); ++i)
      arrays[names[i]] = parameter(session, names[i], {of[i], as[i]}, options.device(), seed);
  };
  make(symbol.arguments(), shapes.arguments, types.arguments);
  make(symbol.auxiliaryStates(), shapes.auxiliary_states, types.auxiliary_states);
  const Symbol computed =
      options.dtype == "int8" ? quantized(session, symbol, arrays, options.device()) : symbol;
  Executor::Options bound;
  bound.device = options.device();
  const auto executor = must(Executor::bind(session, computed, arrays, bound));
  if (options.dtype == "int8" && executor->describePlan().find("_contrib_quantized_") == std::string::npos)
    giveUp("--dtype int8: no layer of " + network + " is computed in 8 bits");
  if (options.gpu < 0 && options.dtype == "bfloat16" &&
      executor->describePlan().find("amx") == std::string::npos)
    giveUp("--dtype bfloat16: oneDNN computes no layer of " + network +
           " in bfloat16 here (its kernels need a processor with AMX); measure with --dtype float32");
  const auto pass = [&] {
    must(executor->forward());
    must(executor->outputs()[0].waitToRead());
  };
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) pass();
  const auto began = Clock::now();
  int passes = 0;
  double took = 0;
  for (; took < options.seconds || passes < 3; ++passes) {
    session.markIteration(batch);
    pass();
    took = std::chrono::duration<double>(Clock::now() - began).count();
  }
  const double flop = static_cast<double>(must(symbol.forwardFlop({{"data", input}})));
  return {network,
          batch,
          static_cast<double>(batch) * passes / took,
          flop * passes / took * 1e-9,
          executor->memory(),
          {},
          {}};
}

// In a session and trace file of the row, NETWORK-BATCH.pitwall.
Row scoreRecorded(const Options& options, const std::string& network, std::int64_t batch) {
  const std::string trace = options.record_folder + "/" + network + "-" + std::to_string(batch) + ".pitwall";
  SessionOptions session_options;
  session_options.trace_path = trace;
  const auto session = must(Session::open(session_options));
  Row row = score(*session, options, network, batch);
  must(session->finish());
  row.trace = trace;
  return row;
}

class Table {
 public:
  Table(const std::string& format, std::string dtype, const published::Machine& machine)
      : csv_(format == "csv"), json_(format == "json"), dtype_(std::move(dtype)), machine_(machine) {
    const std::string name(machine.name);
    if (csv_)
      puts(
          "network,batch,images_per_second,gflops_per_second,planned_bytes,constant_bytes,dtype,published_on,"
          "published_images_per_second,trace");
    else if (!json_)
      printf("%-17s %6s %12s %12s %12s %12s %14s\n", "network", "batch", "images/s", "GFLOP/s", "planned MiB",
             "constant MiB", name.c_str());
  }

  void add(const Row& row) {
    const auto batch = static_cast<long long>(row.batch);
    const double planned = static_cast<double>(row.memory.planned),
                 constants = static_cast<double>(row.memory.constants);
    char shown[32] = "";
    if (row.published) snprintf(shown, sizeof shown, "%.2f", *row.published);
    if (csv_) {
      printf("%s,%lld,%.3f,%.3f,%.0f,%.0f,%s,%s,%s,%s\n", row.network.c_str(), batch, row.images_per_second,
             row.gflops_per_second, planned, constants, dtype_.c_str(), std::string(machine_.name).c_str(),
             shown, row.trace.c_str());
    } else if (json_) {
      printf(
          "%s{\"network\":\"%s\",\"batch\":%lld,\"images_per_second\":%.3f,\"gflops_per_second\":%.3f,"
          "\"planned_bytes\":%.0f,\"constant_bytes\":%.0f,\"dtype\":\"%s\",\"published_on\":\"%s\","
          "\"published_images_per_second\":%s,\"trace\":%s}",
          separator_, row.network.c_str(), batch, row.images_per_second, row.gflops_per_second, planned,
          constants, dtype_.c_str(), std::string(machine_.name).c_str(), row.published ? shown : "null",
          row.trace.empty() ? "null" : jsonString(row.trace).c_str());
      separator_ = ",\n";
    } else {
      printf("%-17s %6lld %12.1f %12.1f %12.1f %12.1f %14s\n", row.network.c_str(), batch,
             row.images_per_second, row.gflops_per_second, planned / 1048576, constants / 1048576, shown);
    }
    fflush(stdout);
  }

  void finish() {
    if (json_) puts(*separator_ == '[' ? "[]" : "]");
  }

 private:
  const bool csv_, json_;
  const std::string dtype_;
  const published::Machine& machine_;
  const char* separator_ = "[";
};

// "all" and "table" as the names they stand for.
std::vector<std::string> networksOf(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& name : given) {
    if (name == "all") {
      for (const models::Model& model : models::all()) names.emplace_back(model.name);
    } else if (name == "table") {
      names.insert(names.end(), std::begin(published::kNetworks), std::end(published::kNetworks));
    } else {
      must(models::make(name));  // a wrong name ends the program before any row is measured
      names.push_back(name);
    }
  }
  return names;
}

// How far the measurement is; on a terminal, where it is overwritten.
void showProgress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) fprintf(stderr, "\r\033[K%s", text.c_str());
}

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("Images per second of inference with synthetic data.");
  app.add_option("--network", o.networks,
                 "networks; all: every one of the build; table: those of the documents' tables [table]")
      ->delimiter(',');
  app.add_option("--batch-size", o.batches, "images in a batch [1,2,4,8,16,32]")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  app.add_option("--seconds", o.seconds, "at least, for each row [3]")->check(CLI::PositiveNumber);
  app.add_option(
         "--dtype", o.dtype,
         "float32; int8: the quantized network; on a CPU bfloat16 for products where processor and oneDNN "
         "have it; on a GPU float16 or bfloat16 [float32]")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16", "int8"}));
  app.add_option("--gpus", o.gpu, "compute on the GPU of this number [on the CPU]")
      ->check(CLI::Range(0, kMaxDevices - 1));
  app.add_option("--format", o.format, "text, csv or json [text]")
      ->check(CLI::IsMember({"text", "csv", "json"}));
  app.add_option(
      "--published", o.published,
      "show beside them what MXNet's performance page has of c5.xlarge, c5.2xlarge, c5.4xlarge, "
      "c5.9xlarge, c5.18xlarge, K80, M60 or V100 [the one with as many processors; with --gpus V100]");
  app.add_option("--record", o.record_folder,
                 "leave a trace of each row in this folder, NETWORK-BATCH.pitwall");
  app.add_option("--write", o.write_folder,
                 "also write each network as NAME-symbol.json of MXNet into this folder");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit(app.exit(error) == 0 ? 0 : 2);
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.gpu < 0 && options.dtype == "float16")
    giveUp("--dtype float16: on a CPU there are float32, int8 and bfloat16; for a GPU give --gpus 0");
  const std::vector<std::string> networks = networksOf(options.networks);
  const published::Machine* machine = &published::machineFor(std::thread::hardware_concurrency());
  if (options.gpu >= 0) machine = published::findMachine("V100");
  if (!options.published.empty()) machine = published::findMachine(options.published);
  if (machine == nullptr) giveUp("--published " + options.published + ": the page has no such machine");
  // oneDNN then multiplies in bfloat16 and adds in float32, where it has such kernels; arrays stay float32.
  if (options.gpu < 0 && options.dtype == "bfloat16") setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", 1);
  if (!options.record_folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.record_folder, error);
    if (error) giveUp("--record " + options.record_folder + ": " + error.message());
  }
  const bool records = !options.record_folder.empty();
  if (records && getenv("PITWALL_TRACE") != nullptr)
    giveUp(
        "--record and PITWALL_TRACE are both given: PITWALL_TRACE has one trace of the whole run, --record "
        "one of each row");
  const auto session = records ? nullptr : must(Session::open());
  Table table(options.format, options.dtype, *machine);
  std::size_t done = 0;
  for (const std::string& network : networks) {
    if (!options.write_folder.empty())
      must(must(models::make(network)).save(options.write_folder + "/" + network + "-symbol.json"));
    for (const std::int64_t batch : options.batches) {
      showProgress(std::to_string(++done) + " of " +
                   std::to_string(networks.size() * options.batches.size()) + ": " + network + ", batch " +
                   std::to_string(batch));
      Row row = records ? scoreRecorded(options, network, batch) : score(*session, options, network, batch);
      row.published = published::imagesPerSecond(*machine, network, batch);
      showProgress("");
      table.add(row);
    }
  }
  table.finish();
  if (session != nullptr) must(session->finish());
}
