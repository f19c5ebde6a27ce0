// Convolutions whose implementation is measured: the same values, a time, and a choice that is kept.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "db/settings.h"
#include "tests/runtime/backend/harness.h"
#include "tests/support/temp_folder.h"

namespace pitwall::convolution_choice_test {
namespace {

using Implementation = ConvolutionDesc::Implementation;

std::unique_ptr<Backend> openWith(std::vector<std::pair<std::string, std::string>> values) {
  const auto settings = Settings::fromValues(values);
  EXPECT_TRUE(settings.has_value());
  return std::move(openBackend("onednn", *settings)).value();
}

std::string contentsOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Case {
  const char* name;
  Shape data;
  std::int64_t channels, kernel, stride, groups;
};

class Choice : public testing::TestWithParam<Case> {};

// With an addend and an activation, on data of any layout.
TEST_P(Choice, HasTheValuesOfTheReference) {
  const Case& c = GetParam();
  const auto backend = openWith({{"PITWALL_KERNEL_CHOICES", "/dev/null"}});
  const auto reference = test::open("reference");
  std::mt19937 random(1);
  const bool line = c.data.rank() == 3;
  const std::int64_t pad = c.kernel / 2, last = c.data[c.data.rank() - 1];
  ConvolutionDesc desc{.kernel = {line ? 1 : c.kernel, c.kernel},
                       .stride = {line ? 1 : c.stride, c.stride},
                       .pad = {line ? 0 : pad, pad},
                       .channels = c.channels,
                       .groups = c.groups,
                       .adds = true,
                       .activation = {.type = FusedActivation::Type::relu}};
  const std::int64_t extent = (last + 2 * pad - c.kernel) / c.stride + 1;
  Shape weight{c.channels, c.data[1] / c.groups}, out{c.data[0], c.channels};
  for (int i = 2; i < c.data.rank(); ++i) {
    weight.append(c.kernel);
    out.append(extent);
  }
  std::vector<test::Array> inputs{test::randomArray(c.data, random), test::randomArray(weight, random),
                                  test::randomArray({c.channels}, random), test::randomArray(out, random)};
  const auto expected =
      test::ask(*reference, {.desc = desc, .pass = Pass::inference, .inputs = inputs}).outputs.at(0);
  for (const Implementation implementation : {Implementation::measured, Implementation::blocked}) {
    desc.implementation = implementation;
    const test::Answer answer =
        test::ask(*backend, {.desc = desc, .pass = Pass::inference, .inputs = inputs});
    ASSERT_NE(answer.kernel, nullptr);
    EXPECT_GT(answer.kernel->measuredSeconds(), 0) << answer.kernel->implementation();
    const auto values = test::rowMajorValues(*backend, answer.outputs.at(0));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected.floats()[i], 2e-3) << i << ' ' << answer.kernel->implementation();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Choice,
                         testing::Values(Case{"OfImages", {2, 3, 33, 33}, 32, 7, 2, 1},
                                         Case{"ThreeByThree", {2, 64, 28, 28}, 64, 3, 1, 1},
                                         Case{"OfABatch", {9, 32, 14, 14}, 48, 3, 1, 1},
                                         Case{"OneByOne", {1, 64, 14, 14}, 32, 1, 1, 1},
                                         Case{"WithFewChannels", {1, 5, 9, 9}, 7, 3, 1, 1},
                                         Case{"AlongOneAxis", {2, 32, 30}, 48, 3, 1, 1},
                                         Case{"Depthwise", {1, 32, 14, 14}, 32, 3, 1, 32}),
                         [](const auto& tested) { return tested.param.name; });

KernelPtr prepare(Backend& backend, Implementation implementation, std::int64_t images) {
  ConvolutionDesc desc{.kernel = {3, 3}, .pad = {1, 1}, .channels = 64, .bias = false};
  desc.implementation = implementation;
  const std::vector<TensorSpec> inputs{{{images, 64, 28, 28}, DType::float32, nullptr},
                                       {{64, 64, 3, 3}, DType::float32, nullptr}};
  auto kernel = backend.prepare(desc, Pass::inference, inputs);
  EXPECT_TRUE(kernel.has_value());
  return kernel.has_value() ? *kernel : nullptr;
}

// The line of a measurement, without the times.
std::string measuredInto(const std::string& path, std::vector<std::pair<std::string, std::string>> settings) {
  settings.emplace_back("PITWALL_KERNEL_CHOICES", path);
  (void)prepare(*openWith(settings), Implementation::measured, 64);
  const std::string lines = contentsOf(path);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1) << lines;
  return lines.substr(0, lines.rfind('\t') + 1);
}

TEST(ConvolutionChoice, IsReadFromTheFileAndScaledToTheBatch) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  const std::string line = measuredInto(path, {});
  // Other times in the file are those that later processes have.
  std::ofstream(path) << line << "0.5 0.25 0\n";
  const auto backend = openWith({{"PITWALL_KERNEL_CHOICES", path}});
  const double first = prepare(*backend, Implementation::measured, 64)->measuredSeconds();
  EXPECT_DOUBLE_EQ(prepare(*backend, Implementation::blocked, 64)->measuredSeconds(), first / 2);
  EXPECT_DOUBLE_EQ(prepare(*backend, Implementation::measured, 128)->measuredSeconds(), 2 * first);
}

TEST(ConvolutionChoice, OfADisturbedMeasurementIsMadeAgainByTheNextProcess) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  std::ofstream(path) << measuredInto(path, {}) << "0.5 0.25 0 disturbed\n";
  const auto backend = openWith({{"PITWALL_KERNEL_CHOICES", path}});
  EXPECT_LT(prepare(*backend, Implementation::measured, 64)->measuredSeconds(), 0.5);
}

// Each of the candidates, chosen by the file.
TEST(ConvolutionChoice, OfAnyImplementationHasTheValuesOfTheReference) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  const std::string line = measuredInto(path, {});
  std::mt19937 random(2);
  ConvolutionDesc desc{.kernel = {3, 3}, .pad = {1, 1}, .channels = 64, .bias = false};
  const std::vector<test::Array> inputs{test::randomArray({4, 64, 28, 28}, random),
                                        test::randomArray({64, 64, 3, 3}, random)};
  const auto reference = test::open("reference");
  const auto expected =
      test::ask(*reference, {.desc = desc, .pass = Pass::inference, .inputs = inputs}).outputs.at(0);
  desc.implementation = Implementation::blocked;
  for (int number = -1; number < 4; ++number) {
    std::ofstream(path) << line << "0.5 0.25 " << number << '\n';
    const auto backend = openWith({{"PITWALL_KERNEL_CHOICES", path}});
    const test::Answer answer =
        test::ask(*backend, {.desc = desc, .pass = Pass::inference, .inputs = inputs});
    ASSERT_NE(answer.kernel, nullptr);
    const auto values = test::rowMajorValues(*backend, answer.outputs.at(0));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected.floats()[i], 2e-3) << i << ' ' << answer.kernel->implementation();
  }
}

TEST(ConvolutionChoice, IsTheLibrarysWhereNothingIsMeasured) {
  for (const std::pair<std::string, std::string> setting :
       {std::pair("PITWALL_MEASURE_KERNELS", "0"), std::pair("MXNET_ENFORCE_DETERMINISM", "1")}) {
    const auto backend = openWith({setting});
    const KernelPtr plain = prepare(*backend, Implementation::library, 1);
    for (const Implementation implementation : {Implementation::measured, Implementation::blocked}) {
      const KernelPtr kernel = prepare(*backend, implementation, 1);
      EXPECT_EQ(kernel->measuredSeconds(), 0) << setting.first;
      EXPECT_EQ(kernel->implementation(), plain->implementation()) << setting.first;
    }
  }
}

// The times of Winograd's algorithm depend on its threads.
TEST(ConvolutionChoice, WinogradHasTheThreadsOfNnpack) {
  const test::TempFolder folder;
  for (const std::string threads : {"1", "3"}) {
    const std::string path = folder / (threads + ".txt");
    const std::string line = measuredInto(path, {{"MXNET_CPU_NNPACK_NTHREADS", threads}});
    EXPECT_NE(line.find(" of winograd " + threads), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace pitwall::convolution_choice_test
