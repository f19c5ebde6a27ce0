// Files of networks: a symbol that is read is written and read again, and asked for its shapes; parameters likewise.
#include <filesystem>
#include <string>
#include <string_view>

#include "db/check.h"
#include "runtime/parameter_file.h"
#include "runtime/symbol.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/targets.h"

namespace pitwall::fuzz {
namespace {

void checkMessage(const Error& error) {
  PITWALL_CHECK(!error.message.empty(), "an error without a message");
  PITWALL_CHECK(error.code != ErrorCode::internal, "%s", error.message.c_str());
}

void readSymbol(std::span<const std::uint8_t> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto symbol = Symbol::fromJson(text, "input");
  if (!symbol.has_value()) return checkMessage(symbol.error());
  const std::string written = symbol->toJson();
  const auto again = Symbol::fromJson(written, "written");
  PITWALL_CHECK(again.has_value(), "%s", again.error().message.c_str());
  PITWALL_CHECK(again->toJson() == written, "what is written differs: %s", written.c_str());
  for (const Shape& data : {Shape{2, 3}, Shape{2, 3, 8, 8}}) {
    const auto flop = symbol->forwardFlop({{"data", data}});
    if (!flop.has_value()) {
      checkMessage(flop.error());
    } else {
      PITWALL_CHECK(*flop >= 0, "%lld operations", static_cast<long long>(*flop));
    }
  }
}

void readParameters(std::span<const std::uint8_t> input) {
  const std::string path = asFile(input);
  const auto arrays = loadParameters(path);
  if (!arrays.has_value()) return checkMessage(arrays.error());
  const Status saved = saveParameters(path, *arrays);
  if (!saved.has_value()) return checkMessage(saved.error());  // a scalar
  const auto again = loadParameters(path);
  PITWALL_CHECK(again.has_value() && again->size() == arrays->size(), "what is written cannot be read");
}

constexpr Target kGraphTargets[] = {
    {"mxnet_symbol", readSymbol}, {"mxnet_params", readParameters}, {"record_file", readRecords},
    {"csv_rows", readCsv},        {"libsvm_rows", readLibsvm},
};

}  // namespace

std::span<const Target> graphTargets() { return kGraphTargets; }

}  // namespace pitwall::fuzz
