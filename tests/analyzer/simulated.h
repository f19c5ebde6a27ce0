// A small trace that is ready for predictions, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/simulate.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::test {

class Simulated {
 public:
  explicit Simulated(const std::string& text) {
    EXPECT_TRUE(makeTraceFile(text, folder_ / "t.pitwall").has_value());
    auto trace = Trace::open(folder_ / "t.pitwall");
    EXPECT_TRUE(trace.has_value());
    trace_ = std::move(trace).value();
    auto simulator = Simulator::open(*trace_, {.between_runs = 0});
    EXPECT_TRUE(simulator.has_value()) << simulator.error().message;
    simulator_ = std::make_unique<Simulator>(std::move(simulator).value());
  }

  const ReplayCheck& check() const { return simulator_->check(); }

  Prediction after(const std::vector<std::string>& changes) const {
    auto prediction = simulator_->predict(changes);
    EXPECT_TRUE(prediction.has_value()) << prediction.error().message;
    return prediction.has_value() ? std::move(prediction).value() : Prediction{};
  }
  std::string errorOf(const std::vector<std::string>& changes) const {
    const auto prediction = simulator_->predict(changes);
    EXPECT_FALSE(prediction.has_value());
    return prediction.has_value() ? "" : prediction.error().message;
  }

  Trace& trace() const { return *trace_; }

  // The trace of the simulated times.
  std::unique_ptr<Trace> timelineAfter(const std::vector<std::string>& changes) const {
    const auto path = folder_ / "simulated.pitwall";
    const auto written = simulator_->write(*trace_, changes, path);
    EXPECT_TRUE(written.has_value()) << written.error().message;
    auto trace = Trace::open(path);
    EXPECT_TRUE(trace.has_value());
    return trace.has_value() ? std::move(trace).value() : nullptr;
  }

 private:
  const TempFolder folder_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Simulator> simulator_;
};

// An iteration of 100 us: 40 for its batch, which the thread makes itself; a kernel of 20, launched at 41, which starts
// 4 later; a call that waits for it from 47 until 2 after its end; then 33 of the program's own code.
inline constexpr char kLoop[] =
    "repeat 8 100us\n"
    "iteration 0 32\n"
    "span data_wait 0 40us\n"
    "span data_work 0 40us\n"
    "work kernel gemm 45us 20us launch=41us\n"
    "call cudaStreamSynchronize 47us 20us\n"
    "op step Count forward 68us 1us on=main\n"
    "end\n";

// An iteration of 100 us: the thread pushes two operators at 2 and 4, and waits for them from 6 until 2 after the second
// one's end at 60; then 38 of its own code. The first one starts 8 after its push, the second one at once after it.
inline constexpr char kEngine[] =
    "repeat 8 100us\n"
    "iteration 0 32\n"
    "op conv Convolution forward 10us 30us pushed=2us\n"
    "op relu Activation forward 40us 20us pushed=4us\n"
    "span wait 6us 56us\n"
    "end\n";

}  // namespace pitwall::test
