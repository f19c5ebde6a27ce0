// The kind "device" with MXNET_KVSTORE_USETREE: sums along trees of links between the devices.
#include <cstdio>
#include <map>
#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/kvstore/link_trees.h"
#include "runtime/kvstore/reducer.h"

namespace pitwall::kvstore {
namespace {

// The CPU's devices share its memory: a link of the lowest weight between any two.
Links linksOfCpu(int devices) {
  Links links{devices, std::vector<float>(static_cast<std::size_t>(devices * devices), 1)};
  for (int device = 0; device < devices; ++device) links.at(device, device) = 0;
  return links;
}

class TreeReducer final : public Reducer {
 public:
  explicit TreeReducer(Session& session)
      : options_(SumOptions::of(session)),
        bound_(session.settings().integer("MXNET_KVSTORE_TREE_ARRAY_BOUND")),
        prints_(session.settings().boolean("MXNET_KVSTORE_LOGTREE")) {
    tree_options_.penalty =
        static_cast<float>(session.settings().real("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY"));
    tree_options_.backtrack = session.settings().boolean("MXNET_KVSTORE_TREE_BACKTRACK");
  }

  void added(Entry&) override {}
  // The first of the devices is the root of arrays that are not spread.
  Device homeOf(Entry& entry, std::span<const Value> values) override {
    if (!std::exchange(entry.has_home, true)) entry.home = values[0].device();
    return entry.home;
  }
  bool keepsSingle() const override { return true; }

  Status reduce(Entry& entry, std::span<const Value> values, const Value& into, int priority) override {
    if (values.size() == 1) return pushSum(entry, options_, values, into, priority);
    const auto* trees = PITWALL_TRY(treesOf(values.size()));
    std::vector<Value> inputs = PITWALL_TRY(readable(values, into.device()));
    const bool is_spread = isSpread(entry.shape(), values.size());
    if (is_spread || into.chunk->viewed)
      for (Value& input : inputs) input = PITWALL_TRY(withLayout(nullptr, input, nullptr, Phase::update));
    into.chunk->layout = inputs[0].chunk->layout;
    for (const Part& part : partsOf(entry.shape(), values.size(), is_spread))
      reduceAlong((*trees)[part.root], entry, inputs, into, part, priority);
    return {};
  }

  Status broadcast(Entry& entry, const Value& from, std::span<const Value> outputs, int priority) override {
    if (outputs.size() == 1) return pushCopy(entry, options_, from, outputs[0], priority);
    const auto* trees = PITWALL_TRY(treesOf(outputs.size()));
    const bool is_spread = isSpread(entry.shape(), outputs.size());
    bool viewed = is_spread;
    for (const Value& output : outputs) viewed |= output.chunk->viewed;
    const Value source =
        PITWALL_TRY(viewed ? withLayout(nullptr, from, nullptr, Phase::update) : Result<Value>(from));
    for (const Value& output : outputs) output.chunk->layout = source.chunk->layout;
    for (const Part& part : partsOf(entry.shape(), outputs.size(), is_spread))
      broadcastAlong((*trees)[part.root], entry, source, outputs, part, priority);
    return {};
  }

  Status setCompression(const StoreCompression& compression) override {
    if (compression.type == "none") return {};
    return fail(ErrorCode::unsupported,
                "compression: sums along trees are not compressed; set MXNET_KVSTORE_USETREE=0");
  }

 private:
  using Trees = std::vector<LinkTree>;
  // Elements that are summed along the tree of one root.
  struct Part {
    std::size_t root = 0;
    std::int64_t begin = 0, count = -1;  // -1: the whole array, in its layout
  };

  Result<const Trees*> treesOf(std::size_t devices) {
    auto found = trees_.find(devices);
    if (found == trees_.end()) {
      std::string text;
      TreeOptions options = tree_options_;
      if (prints_) options.log = &text;
      Result<Trees> trees = makeTrees(linksOfCpu(static_cast<int>(devices)), options);
      std::fputs(text.c_str(), stderr);
      found = trees_.emplace(devices, PITWALL_TRY(trees)).first;
    }
    return &found->second;
  }

  bool isSpread(const Shape& shape, std::size_t devices) const {
    return shape.elements() > bound_ && shape.rank() > 0 &&
           shape[0] >= static_cast<std::int64_t>(2 * devices);
  }

  static std::vector<Part> partsOf(const Shape& shape, std::size_t devices, bool is_spread) {
    if (!is_spread) return {Part{}};
    const std::int64_t rows = shape[0], row = shape.elements() / rows;
    const auto count = static_cast<std::int64_t>(devices);
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t begin = rows * i / count, end = rows * (i + 1) / count;
      parts.push_back({static_cast<std::size_t>(i), begin * row, (end - begin) * row});
    }
    return parts;
  }

  void reduceAlong(const LinkTree& tree, Entry& entry, std::span<const Value> values, const Value& into,
                   const Part& part, int priority) {
    std::vector<Piece> sums;  // of each device: its value, then what it has summed
    for (const Value& value : values) sums.push_back({value, part.begin, part.count});
    for (int level = tree.depth(); level > 0; --level) {
      for (int i = 0; i < 1 << level; i += 2) {
        const auto parent = static_cast<std::size_t>(tree.at(level, i));
        const auto child = static_cast<std::size_t>(tree.at(level, i + 1));
        if (parent == child) continue;
        const Piece pieces[] = {sums[parent], sums[child]};
        if (level == 1) {
          pushSumOf(entry, options_, pieces, {into, part.begin, part.count}, priority);
          return;
        }
        if (sums[parent].array.chunk == values[parent].chunk)
          sums[parent] = {partialSum(entry, values[parent], parent), part.begin, part.count};
        pushSumOf(entry, options_, pieces, sums[parent], priority);
      }
    }
  }

  void broadcastAlong(const LinkTree& tree, Entry& entry, const Value& from, std::span<const Value> outputs,
                      const Part& part, int priority) {
    const auto piece = [&](const Value& value) { return Piece{value, part.begin, part.count}; };
    const auto root = static_cast<std::size_t>(tree.at(0, 0));
    if (outputs[root].chunk != from.chunk)
      pushCopyOf(entry, options_, piece(from), piece(outputs[root]), priority);
    for (int level = 1; level <= tree.depth(); ++level) {
      for (int i = 0; i < 1 << level; i += 2) {
        const auto parent = static_cast<std::size_t>(tree.at(level, i));
        const auto child = static_cast<std::size_t>(tree.at(level, i + 1));
        if (parent != child)
          pushCopyOf(entry, options_, piece(outputs[parent]), piece(outputs[child]), priority);
      }
    }
  }

  // An array like `value`, on its device; the same at every push. Parts have their elements of it.
  static const Value& partialSum(Entry& entry, const Value& value, std::size_t index) {
    auto& all = entry.partial_sums;
    if (all.size() <= index) all.resize(index + 1);
    if (!all[index] || all[index].device() != value.device())
      all[index] = {makeChunk(value.session(), value.device(), MemoryTag::gradients, DType::float32),
                    value.shape};
    all[index].chunk->layout = value.chunk->layout;
    return all[index];
  }

  const SumOptions options_;
  const std::int64_t bound_;
  const bool prints_;
  TreeOptions tree_options_;
  std::map<std::size_t, Trees> trees_;  // by the number of devices
};

}  // namespace

std::unique_ptr<Reducer> makeTreeReducer(Session& session) { return std::make_unique<TreeReducer>(session); }

}  // namespace pitwall::kvstore
