// The kind "device" with MXNET_KVSTORE_USETREE: sums along trees of links between the devices.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/gpu/work.h"
#include "runtime/kvstore/link_trees.h"
#include "runtime/kvstore/reducer.h"

namespace pitwall::kvstore {
namespace {

// The CPU's devices share its memory: a link of the lowest weight between any two. GPUs have those that the driver reports.
Result<Links> linksBetween(Session& session, std::span<const Value> values) {
  if (!std::ranges::all_of(values, onGpu)) return Links::alike(static_cast<int>(values.size()));
  std::vector<int> devices;
  for (const Value& value : values) devices.push_back(value.device().index);
  GpuWork* const work = PITWALL_TRY(session.gpuWork(values[0].device()));
  return linksOf(work->driver(), devices);
}

// Calls add(parent, child, is_last) for each sum, from the leaves to the root; the last one is the result.
template <class Add>
void forSums(const LinkTree& tree, Add add) {
  for (int level = tree.depth(); level > 0; --level) {
    for (int i = 0; i < 1 << level; i += 2) {
      const auto parent = static_cast<std::size_t>(tree.at(level, i));
      const auto child = static_cast<std::size_t>(tree.at(level, i + 1));
      if (parent != child) add(parent, child, level == 1);
    }
  }
}

// Calls copy(parent, child) for each link, from the root to the leaves.
template <class Copy>
void forCopies(const LinkTree& tree, Copy copy) {
  for (int level = 1; level <= tree.depth(); ++level) {
    for (int i = 0; i < 1 << level; i += 2) {
      const auto parent = static_cast<std::size_t>(tree.at(level, i));
      const auto child = static_cast<std::size_t>(tree.at(level, i + 1));
      if (parent != child) copy(parent, child);
    }
  }
}

class TreeReducer final : public Reducer {
 public:
  explicit TreeReducer(Session& session)
      : session_(session),
        options_(SumOptions::of(session)),
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
    const auto* trees = PITWALL_TRY(treesOf(values));
    if (onGpu(into)) return reduceOnGpus((*trees)[0], entry, values, into, priority);
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
    const auto* trees = PITWALL_TRY(treesOf(outputs));
    if (onGpu(from) || std::ranges::any_of(outputs, onGpu))
      return broadcastOnGpus((*trees)[0], entry, from, outputs, priority);
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

  // Of arrays on these devices.
  Result<const Trees*> treesOf(std::span<const Value> values) {
    std::vector<Device> devices;
    for (const Value& value : values) devices.push_back(value.device());
    auto found = trees_.find(devices);
    if (found == trees_.end()) {
      std::string text;
      TreeOptions options = tree_options_;
      if (prints_) options.log = &text;
      const Links links = PITWALL_TRY(linksBetween(session_, values));
      Result<Trees> trees = makeTrees(links, options);
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
    forSums(tree, [&](std::size_t parent, std::size_t child, bool is_last) {
      const Piece pieces[] = {sums[parent], sums[child]};
      if (is_last) return pushSumOf(entry, options_, pieces, {into, part.begin, part.count}, priority);
      if (sums[parent].array.chunk == values[parent].chunk)
        sums[parent] = {partialSum(entry, values[parent], parent), part.begin, part.count};
      pushSumOf(entry, options_, pieces, sums[parent], priority);
    });
  }

  void broadcastAlong(const LinkTree& tree, Entry& entry, const Value& from, std::span<const Value> outputs,
                      const Part& part, int priority) {
    const auto piece = [&](const Value& value) { return Piece{value, part.begin, part.count}; };
    const auto root = static_cast<std::size_t>(tree.at(0, 0));
    if (outputs[root].chunk != from.chunk)
      pushCopyOf(entry, options_, piece(from), piece(outputs[root]), priority);
    forCopies(tree, [&](std::size_t parent, std::size_t child) {
      pushCopyOf(entry, options_, piece(outputs[parent]), piece(outputs[child]), priority);
    });
  }

  // Whole arrays: the sums of a GPU's backend have no parts.
  Status reduceOnGpus(const LinkTree& tree, Entry& entry, std::span<const Value> values, const Value& into,
                      int priority) {
    std::vector<Value> sums(values.begin(), values.end());
    Status status;
    forSums(tree, [&](std::size_t parent, std::size_t child, bool is_last) {
      if (!status.has_value()) return;
      const Value pair[] = {sums[parent], sums[child]};
      if (is_last) {
        status = pushSum(entry, options_, pair, into, priority);
        return;
      }
      const Value& value = values[parent];
      sums[parent] = {makeChunk(session_, value.device(), MemoryTag::gradients, DType::float32), value.shape};
      status = pushSum(entry, options_, pair, sums[parent], priority);
    });
    return status;
  }

  Status broadcastOnGpus(const LinkTree& tree, Entry& entry, const Value& from,
                         std::span<const Value> outputs, int priority) {
    const auto root = static_cast<std::size_t>(tree.at(0, 0));
    Status status = pushCopy(entry, options_, from, outputs[root], priority);
    forCopies(tree, [&](std::size_t parent, std::size_t child) {
      if (status.has_value()) status = pushCopy(entry, options_, outputs[parent], outputs[child], priority);
    });
    return status;
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

  Session& session_;
  const SumOptions options_;
  const std::int64_t bound_;
  const bool prints_;
  TreeOptions tree_options_;
  std::map<std::vector<Device>, Trees> trees_;
};

}  // namespace

std::unique_ptr<Reducer> makeTreeReducer(Session& session) { return std::make_unique<TreeReducer>(session); }

}  // namespace pitwall::kvstore
