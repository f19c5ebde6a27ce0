// What executors compute of networks that MXNet 1.9.1 wrote, in inference and in a training step, beside what MXNet computed
// (tests/peers/mxnet_graph.py). With
// PITWALL_PEER_GRAPHS also of the networks in that folder.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/executor.h"
#include "runtime/parameter_file.h"

namespace pitwall::graph::peer_outputs_test {
namespace {

namespace fs = std::filesystem;

std::vector<float> valuesOf(const ParameterArray& array) {
  std::vector<float> values(array.values.size() / sizeof(float));
  std::memcpy(values.data(), array.values.data(), values.size() * sizeof(float));
  return values;
}

// "arg:conv0_weight" is conv0_weight.
std::string nameOf(const std::string& key) { return key.substr(key.find(':') + 1); }

void expectClose(const NDArray& array, const ParameterArray& expected) {
  const auto ours = array.toVector();
  ASSERT_TRUE(ours.has_value()) << ours.error().message;
  const std::vector<float> theirs = valuesOf(expected);
  ASSERT_EQ(ours->size(), theirs.size());
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    largest = std::max(largest, std::abs(theirs[i]));
    difference = std::max(difference, std::abs((*ours)[i] - theirs[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, 1e-4F * largest) << "of " << largest;
}

struct Compared {
  std::unique_ptr<Session> session;
  std::map<std::string, NDArray> arrays;
  std::map<std::string, ParameterArray> computed;  // by MXNet
  std::unique_ptr<Executor> executor;              // nullptr after a failure
};

// With the gradients that MXNet computed.
Compared bindCompared(const fs::path& file, const std::string& backend) {
  const std::string base = (file.parent_path() / file.stem()).string();
  Compared made;
  const auto symbol = Symbol::load(base + "-symbol.json");
  const auto parameters = loadParameters(base + "-0000.params");
  const auto computed = loadParameters(file.string());
  auto session = Session::open({.trace_path = "", .backend = backend, .settings = {}});
  EXPECT_TRUE(symbol.has_value()) << symbol.error().message;
  EXPECT_TRUE(parameters.has_value()) << parameters.error().message;
  EXPECT_TRUE(computed.has_value()) << computed.error().message;
  EXPECT_TRUE(session.has_value()) << session.error().message;
  if (testing::Test::HasFailure()) return made;
  made.session = std::move(*session);
  for (const auto& [key, array] : *parameters)
    made.arrays[nameOf(key)] = NDArray::fromValues(*made.session, array.shape, valuesOf(array));
  Executor::Options options;
  for (const auto& [key, array] : *computed) {
    made.computed.emplace(key, array);
    if (key.starts_with("grad:")) options.gradients[nameOf(key)] = {};
    if (key == "data" || key == "softmax_label")
      made.arrays[key] = NDArray::fromValues(*made.session, array.shape, valuesOf(array));
  }
  auto executor = Executor::bind(*made.session, *symbol, made.arrays, options);
  EXPECT_TRUE(executor.has_value()) << executor.error().message;
  if (executor.has_value()) made.executor = std::move(*executor);
  return made;
}

void compareForward(const fs::path& file, const std::string& backend) {
  const Compared compared = bindCompared(file, backend);
  ASSERT_NE(compared.executor, nullptr);
  ASSERT_TRUE(compared.executor->forward().has_value());
  expectClose(compared.executor->outputs()[0], compared.computed.at("output"));
}

void compareBackward(const fs::path& file, const std::string& backend) {
  const Compared compared = bindCompared(file, backend);
  ASSERT_NE(compared.executor, nullptr);
  ASSERT_TRUE(compared.executor->forward(Executor::Mode::training).has_value());
  ASSERT_TRUE(compared.executor->backward().has_value());
  expectClose(compared.executor->outputs()[0], compared.computed.at("output"));
  int gradients = 0;
  for (const auto& [key, array] : compared.computed) {
    SCOPED_TRACE(key);
    // That of a gamma that is fixed is zero.
    if (key == "grad:bn1_gamma") continue;
    if (key.starts_with("grad:")) expectClose(compared.executor->gradient(nameOf(key)), array);
    if (key.starts_with("aux:")) expectClose(compared.arrays.at(nameOf(key)), array);
    gradients += key.starts_with("grad:") ? 1 : 0;
  }
  EXPECT_GT(gradients, 0);
}

int compareFolder(const fs::path& folder, const std::vector<std::string>& backends) {
  int compared = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    const bool is_forward = file.path().extension() == ".forward";
    if (!is_forward && file.path().extension() != ".backward") continue;
    for (const std::string& backend : backends) {
      SCOPED_TRACE(file.path().string() + " " + backend);
      (is_forward ? compareForward : compareBackward)(file.path(), backend);
    }
    ++compared;
  }
  return compared;
}

TEST(PeerOutputs, OfTheFixtures) {
  EXPECT_EQ(compareFolder(PITWALL_GRAPH_FIXTURES, {"onednn", "reference"}), 3);
}

TEST(PeerOutputs, OfAFolder) {
  const char* folder = std::getenv("PITWALL_PEER_GRAPHS");
  if (folder == nullptr)
    GTEST_SKIP() << "PITWALL_PEER_GRAPHS names no folder (tests/peers/mxnet_graph.py writes one)";
  EXPECT_GT(compareFolder(folder, {"onednn"}), 0);
}

}  // namespace
}  // namespace pitwall::graph::peer_outputs_test
