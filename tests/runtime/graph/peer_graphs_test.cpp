// Networks that MXNet 1.9.1 wrote (tests/peers/mxnet_graph.py): read, compared with what MXNet infers for them, and written
// again. Those of fixtures/; with PITWALL_PEER_GRAPHS also those of that folder, for MXNet to read what is in its ours/.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "runtime/parameter_file.h"
#include "runtime/symbol.h"

namespace pitwall::graph::peer_graphs_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The first line that differs; "" when none does.
std::string firstDifference(const std::string& ours, const std::string& theirs) {
  std::istringstream a(ours), b(theirs);
  for (int line = 1; a && b; ++line) {
    std::string x, y;
    std::getline(a, x);
    std::getline(b, y);
    if (x != y) return "line " + std::to_string(line) + ": " + x + " instead of " + y;
  }
  return ours.size() == theirs.size() ? "" : "the end is missing";
}

Shape shapeFrom(const std::string& text) {
  Shape shape;
  std::istringstream parts(text);
  for (std::string extent; std::getline(parts, extent, 'x');) shape.append(std::stoll(extent));
  return shape;
}

// NAME.shapes: "given NAME SHAPE" and then "argument NAME SHAPE", "state ...", "output ...".
struct Expected {
  std::map<std::string, Shape> given;
  std::string lines;
};

Expected expectedOf(const fs::path& path) {
  Expected expected;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name, shape;
    words >> kind >> name >> shape;
    if (kind == "given") {
      expected.given[name] = shapeFrom(shape);
    } else {
      expected.lines += line + "\n";
    }
  }
  return expected;
}

std::string linesOf(const Symbol& symbol, const InferredShapes& shapes) {
  std::string text;
  const auto add = [&text](const char* kind, const std::vector<std::string>& names,
                           const std::vector<Shape>& list) {
    for (std::size_t i = 0; i < names.size(); ++i)
      text += std::string(kind) + " " + names[i] + " " + list[i].toString() + "\n";
  };
  add("argument", symbol.arguments(), shapes.arguments);
  add("state", symbol.auxiliaryStates(), shapes.auxiliary_states);
  add("output", symbol.outputNames(), shapes.outputs);
  return text;
}

// Each array of the file belongs to an argument or a state, and has the shape that was inferred.
void compareValues(const ParameterArrays& arrays, const std::string& lines) {
  for (const auto& [name, array] : arrays) {
    const bool argument = name.starts_with("arg:");
    ASSERT_TRUE(argument || name.starts_with("aux:")) << name;
    const std::string line =
        (argument ? "argument " : "state ") + name.substr(4) + " " + array.shape.toString() + "\n";
    EXPECT_NE(lines.find(line), lines.npos) << line;
  }
}

// Returns the number of networks in the folder.
int compareFolder(const fs::path& folder, bool write_again) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string(), ending = "-symbol.json";
    if (!file.ends_with(ending)) continue;
    const std::string name = file.substr(0, file.size() - ending.size());
    SCOPED_TRACE(name);
    ++count;
    const auto symbol = Symbol::load(entry.path().string());
    const auto arrays = loadParameters((folder / (name + "-0000.params")).string());
    if (!symbol.has_value() || !arrays.has_value()) {
      ADD_FAILURE() << (symbol.has_value() ? arrays.error().message : symbol.error().message);
      continue;
    }
    EXPECT_EQ(firstDifference(symbol->toJson(), contents(entry.path())), "");
    const Expected expected = expectedOf(folder / (name + ".shapes"));
    const auto shapes = symbol->inferShapes(expected.given);
    if (!shapes.has_value()) {
      ADD_FAILURE() << shapes.error().message;
      continue;
    }
    EXPECT_EQ(linesOf(*symbol, *shapes), expected.lines);
    compareValues(*arrays, expected.lines);
    if (!write_again) continue;
    fs::create_directories(folder / "ours");
    EXPECT_TRUE(symbol->save((folder / "ours" / file).string()).has_value());
    EXPECT_TRUE(saveParameters((folder / "ours" / (name + "-0000.params")).string(), *arrays).has_value());
  }
  return count;
}

TEST(PeerGraphs, OfTheFixtures) { EXPECT_EQ(compareFolder(PITWALL_GRAPH_FIXTURES, false), 5); }

TEST(PeerGraphs, OfAFolder) {
  const char* folder = std::getenv("PITWALL_PEER_GRAPHS");
  if (folder == nullptr)
    GTEST_SKIP() << "PITWALL_PEER_GRAPHS names no folder (tests/peers/mxnet_graph.py writes one)";
  EXPECT_GT(compareFolder(folder, true), 0);
}

}  // namespace
}  // namespace pitwall::graph::peer_graphs_test
