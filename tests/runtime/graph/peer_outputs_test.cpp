// What executors compute of networks that MXNet 1.9.1 wrote, beside what MXNet computed (tests/peers/mxnet_graph.py). With
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

void compare(const fs::path& forward, const std::string& backend) {
  const std::string base = (forward.parent_path() / forward.stem()).string();
  SCOPED_TRACE(base + " " + backend);
  const auto symbol = Symbol::load(base + "-symbol.json");
  const auto parameters = loadParameters(base + "-0000.params");
  const auto computed = loadParameters(forward.string());
  ASSERT_TRUE(symbol.has_value()) << symbol.error().message;
  ASSERT_TRUE(parameters.has_value()) << parameters.error().message;
  ASSERT_TRUE(computed.has_value()) << computed.error().message;
  auto session = Session::open({.trace_path = "", .backend = backend, .settings = {}});
  ASSERT_TRUE(session.has_value()) << session.error().message;
  std::map<std::string, NDArray> arrays;
  for (const auto& [key, array] : *parameters)
    arrays[nameOf(key)] = NDArray::fromValues(**session, array.shape, valuesOf(array));
  const ParameterArray& data = computed->at("data");
  arrays["data"] = NDArray::fromValues(**session, data.shape, valuesOf(data));
  const auto executor = Executor::bind(**session, *symbol, arrays);
  ASSERT_TRUE(executor.has_value()) << executor.error().message;
  ASSERT_TRUE((*executor)->forward().has_value());
  const auto ours = (*executor)->outputs()[0].toVector();
  ASSERT_TRUE(ours.has_value()) << ours.error().message;
  const std::vector<float> theirs = valuesOf(computed->at("output"));
  ASSERT_EQ(ours->size(), theirs.size());
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    largest = std::max(largest, std::abs(theirs[i]));
    difference = std::max(difference, std::abs((*ours)[i] - theirs[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, 1e-4F * largest) << "of " << largest;
}

int compareFolder(const fs::path& folder, const std::vector<std::string>& backends) {
  int compared = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".forward") continue;
    for (const std::string& backend : backends) compare(file.path(), backend);
    ++compared;
  }
  return compared;
}

TEST(PeerOutputs, OfTheFixtures) {
  EXPECT_EQ(compareFolder(PITWALL_GRAPH_FIXTURES, {"onednn", "reference"}), 2);
}

TEST(PeerOutputs, OfAFolder) {
  const char* folder = std::getenv("PITWALL_PEER_GRAPHS");
  if (folder == nullptr)
    GTEST_SKIP() << "PITWALL_PEER_GRAPHS names no folder (tests/peers/mxnet_graph.py writes one)";
  EXPECT_GT(compareFolder(folder, {"onednn"}), 0);
}

}  // namespace
}  // namespace pitwall::graph::peer_outputs_test
