// Runs the real `pitwall` executable on a small trace, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/trace_text.h"

namespace pitwall::test {

inline constexpr char kCommandTrace[] = R"(
meta trace.producer pitwall 0.1.0
meta process.usable_cpus 2
meta process.openmp_runtime libgomp
meta process.openmp_threads 1
meta runtime.engine ThreadedEnginePerDevice
meta runtime.backend onednn
tunable prefetch_threads 0 0 8 program
tunable prefetch_depth 1 1 64 program
repeat 12 6ms
  iteration 0 16
  span data_wait 0 2ms
  span data_work 0 2ms
  op conv1 Convolution forward 2100us 1400us pushed=2050us
  op conv1 Convolution backward 3500us 2ms pushed=3450us
end
)";

struct Ended {
  int code = -1;
  std::string out, err;
};

class Command : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-cli-{}", getpid());
    std::filesystem::create_directories(folder_);
    trace_ = (folder_ / "run.pitwall").string();
    const auto status = makeTraceFile(kCommandTrace, trace_);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  void TearDown() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }

  Ended pitwall(const std::string& arguments, const std::string& environment = "") {
    const std::string out = (folder_ / "out").string(), err = (folder_ / "err").string();
    const int status = std::system(
        fmt::format("env {} {} {} >{} 2>{}", environment, PITWALL_COMMAND, arguments, out, err).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readAll(out), readAll(err)};
  }

  // The single answer of SQLite's own JSON parser, an independent check.
  std::string askJson(const std::string& json, const std::string& expression) {
    auto trace = Trace::open(trace_);
    if (!trace.has_value()) return trace.error().message;
    const SqlParameter parameter{":json", json};
    auto rows = trace.value()->query("SELECT CAST(" + expression + " AS TEXT)", {&parameter, 1});
    if (!rows.has_value()) return rows.error().message;
    const auto* text = std::get_if<std::string>(&rows.value().rows.at(0).at(0));
    return text == nullptr ? "null" : *text;
  }

  std::filesystem::path folder_;
  std::string trace_;
};

}  // namespace pitwall::test
