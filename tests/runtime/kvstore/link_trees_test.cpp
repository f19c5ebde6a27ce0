// Trees over links: their form, their weights, and the trees that exhaustive search must find.
#include "runtime/kvstore/link_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace pitwall::test::link_trees_test {
namespace {

using kvstore::Links;
using kvstore::LinkTree;
using kvstore::makeTrees;
using kvstore::treeDepth;
using kvstore::TreeOptions;

// One text for each device, a digit for each link.
Links linksOf(std::initializer_list<const char*> rows) {
  Links links{static_cast<int>(rows.size()), {}};
  for (const std::string_view row : rows)
    for (const char digit : row) links.weights.push_back(static_cast<float>(digit - '0'));
  return links;
}

// Eight GPUs of an Amazon p3.16xlarge: 1 over the host, 2 one NVLink, 3 two.
Links eight() {
  return linksOf(
      {"02233111", "20321311", "23031121", "32301112", "31110223", "13112032", "11212303", "11123230"});
}

Links four() { return linksOf({"0223", "2032", "2303", "3230"}); }

// Each device is summed once: it is where it joins another, and on the way up from its own lowest place.
void expectSumsAll(const LinkTree& tree, const Links& usable, int root) {
  const int depth = treeDepth(usable.devices);
  ASSERT_EQ(tree.topo.size(), (std::size_t{2} << depth) - 1);
  ASSERT_EQ(tree.scan.size(), static_cast<std::size_t>(depth) + 2);
  for (int level = 0; level <= depth + 1; ++level)
    EXPECT_EQ(tree.scan[static_cast<std::size_t>(level)], (1 << level) - 1);
  EXPECT_EQ(tree.topo[0], root);
  std::vector<int> sums(static_cast<std::size_t>(usable.devices), 1);  // devices in the sum of each
  for (int level = depth; level > 0; --level) {
    for (int i = 0; i < 1 << level; i += 2) {
      const int parent = tree.at(level, i), child = tree.at(level, i + 1);
      EXPECT_EQ(tree.at(level - 1, i / 2), parent);
      if (parent == child) continue;
      EXPECT_GT(usable.at(parent, child), 0) << parent << " and " << child;
      sums[static_cast<std::size_t>(parent)] += sums[static_cast<std::size_t>(child)];
      sums[static_cast<std::size_t>(child)] = 0;
    }
  }
  EXPECT_EQ(sums[static_cast<std::size_t>(root)], usable.devices);
}

std::vector<LinkTree> treesOf(const Links& links, const TreeOptions& options) {
  const auto trees = makeTrees(links, options);
  EXPECT_TRUE(trees.has_value()) << trees.error().message;
  EXPECT_EQ(trees->size(), static_cast<std::size_t>(links.devices));
  const Links usable = kvstore::usableLinks(links);
  for (int root = 0; root < links.devices; ++root)
    expectSumsAll((*trees)[static_cast<std::size_t>(root)], usable, root);
  return *trees;
}

TEST(LinkTrees, DepthGrowsWithTheLogarithm) {
  const int expected[] = {1, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int devices = 1; devices <= 9; ++devices) EXPECT_EQ(treeDepth(devices), expected[devices - 1]);
  EXPECT_EQ(treeDepth(16), 4);
}

TEST(LinkTrees, SlowLinksAreUsedOnlyWhereTheFastOnesDoNotConnect) {
  EXPECT_EQ(kvstore::usableLinks(eight()).at(0, 5), 0);
  EXPECT_EQ(kvstore::usableLinks(eight()).at(0, 3), 3);
  const Links apart = kvstore::usableLinks(linksOf({"0211", "2011", "1102", "1120"}));
  EXPECT_EQ(apart.at(0, 1), 2);
  EXPECT_EQ(apart.at(0, 2), 0.25F);
}

TEST(LinkTrees, WeightIsThatOfTheLinksUsed) {
  const LinkTree tree = kvstore::treeOfLeaves({0, 3, 4, 7, 1, 2, 5, 6});
  EXPECT_EQ(tree.topo, (std::vector<int>{0, 0, 1, 0, 4, 1, 5, 0, 3, 4, 7, 1, 2, 5, 6}));
  EXPECT_EQ(tree.scan, (std::vector<int>{0, 1, 3, 7, 15}));
  EXPECT_EQ(kvstore::weightOf(tree, eight()), 20);
}

TEST(LinkTrees, BacktrackingFindsTheHeaviestOfFour) {
  const auto trees = treesOf(four(), {.backtrack = true});
  EXPECT_EQ(trees[0].topo, (std::vector<int>{0, 0, 3, 0, 1, 3, 2}));
  EXPECT_EQ(trees[1].topo, (std::vector<int>{1, 1, 3, 1, 2, 3, 0}));
  EXPECT_EQ(trees[2].topo, (std::vector<int>{2, 2, 3, 2, 1, 3, 0}));
  EXPECT_EQ(trees[3].topo, (std::vector<int>{3, 3, 2, 3, 1, 2, 0}));
}

TEST(LinkTrees, BacktrackingFindsTheHeaviestOfEight) {
  const auto trees = treesOf(eight(), {.backtrack = true});
  const std::vector<std::vector<int>> expected = {
      {0, 0, 1, 0, 4, 1, 5, 0, 3, 4, 7, 1, 2, 5, 6}, {1, 1, 5, 1, 2, 5, 6, 1, 0, 2, 3, 5, 4, 6, 7},
      {2, 2, 6, 2, 3, 6, 7, 2, 0, 3, 1, 6, 4, 7, 5}, {3, 3, 7, 3, 2, 7, 6, 3, 0, 2, 1, 7, 4, 6, 5},
      {4, 4, 0, 4, 5, 0, 2, 4, 7, 5, 1, 0, 3, 2, 6}, {5, 5, 6, 5, 7, 6, 4, 5, 1, 7, 3, 6, 2, 4, 0},
      {6, 6, 7, 6, 4, 7, 3, 6, 2, 4, 0, 7, 5, 3, 1}, {7, 7, 3, 7, 4, 3, 2, 7, 6, 4, 5, 3, 0, 2, 1}};
  for (std::size_t root = 0; root < 8; ++root) EXPECT_EQ(trees[root].topo, expected[root]) << root;
}

// The trees depend on the order of random numbers; MXNet's weigh 15 to 20.
TEST(LinkTrees, BisectionFindsTreesOfDirectLinks) {
  const auto trees = treesOf(eight(), {});
  for (const LinkTree& tree : trees) EXPECT_GE(kvstore::weightOf(tree, eight()), 15);
  EXPECT_EQ(treesOf(eight(), {})[3].topo, trees[3].topo) << "the same at every call";
}

TEST(LinkTrees, APenaltySpreadsTheTreesOverTheLinks) {
  const auto spread = [](float penalty) {
    std::set<std::pair<int, int>> used;
    for (const LinkTree& tree : treesOf(eight(), {.penalty = penalty, .backtrack = true}))
      for (std::size_t i = 1; i < tree.topo.size(); ++i)
        used.insert(std::minmax(tree.topo[i], tree.topo[(i - 1) / 2]));
    return used.size();
  };
  EXPECT_GT(spread(0.7F), spread(1));
}

TEST(LinkTrees, RandomLinksOfAnyNumberOfDevices) {
  std::mt19937 random(7);
  for (int devices = 2; devices <= 16; ++devices) {
    Links links{devices, std::vector<float>(static_cast<std::size_t>(devices * devices), 0)};
    for (int a = 0; a < devices; ++a)
      for (int b = 0; b < a; ++b) links.at(a, b) = links.at(b, a) = static_cast<float>(1 + random() % 3);
    treesOf(links, {});
    if (devices <= 8) treesOf(links, {.backtrack = true});
  }
}

TEST(LinkTrees, DevicesWithoutLinksAreAnError) {
  const auto trees = makeTrees(linksOf({"020", "200", "000"}), {});
  ASSERT_FALSE(trees.has_value());
  EXPECT_EQ(trees.error().code, ErrorCode::unsupported);
  EXPECT_NE(trees.error().message.find("MXNET_KVSTORE_USETREE=0"), std::string::npos);
}

TEST(LinkTrees, TheLogHasLinksAndTrees) {
  std::string text;
  treesOf(four(), {.backtrack = true, .log = &text});
  EXPECT_NE(text.find("0 2 2 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("using backtracking"), std::string::npos) << text;
  EXPECT_NE(text.find("root 0: weight 8, devices 0 0 3 0 1 3 2\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace pitwall::test::link_trees_test
