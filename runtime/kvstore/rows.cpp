#include "runtime/kvstore/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/kvstore/parts.h"
#include "runtime/operators/support/copy.h"

namespace pitwall::kvstore {
namespace {

using RowList = std::vector<std::int64_t>;

constexpr Bytes kFloat = sizeof(float);

// Elements of a row.
std::int64_t rowLength(const Shape& shape) {
  std::int64_t length = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) length *= shape[axis];
  return length;
}

Shape shapeOfRows(const Shape& shape, std::size_t rows) {
  Shape result{static_cast<std::int64_t>(rows)};
  for (int axis = 1; axis < shape.rank(); ++axis) result.append(shape[axis]);
  return result;
}

Status checkOne(const Entry& entry, const StoreRows& one) {
  const Shape wanted = shapeOfRows(entry.shape(), one.rows.size());
  if (!one.values || one.values.shape() != wanted || one.values.dtype() != DType::float32)
    return fail(ErrorCode::invalidInput, fmt::format("key '{}': {} rows need an array of float32 of shape {}",
                                                     *entry.key, one.rows.size(), wanted.toString()));
  for (const std::int64_t row : one.rows)
    if (row < 0 || row >= entry.shape()[0])
      return fail(ErrorCode::invalidInput,
                  fmt::format("key '{}' has {} rows, no row {}", *entry.key, entry.shape()[0], row));
  return {};
}

// Memory of the host for arrays of a GPU, whose rows are gathered and summed there.
Device hostOf(Device device) { return device.kind == DeviceKind::gpu ? pinned(device.index) : device; }

Result<Value> inHostMemory(const Value& value) {
  if (onGpu(value)) return copyToDevice(value, hostOf(value.device()), Phase::update);
  return withLayout(nullptr, value, nullptr, Phase::update);
}

struct RowSum {
  std::shared_ptr<const std::string> key;
  std::vector<RowList> rows;
  std::vector<const Chunk*> values;
  Chunk* into;
  std::int64_t count, length;  // rows of the key, elements of each
  SumThreads threads;

  Status operator()(const RunContext&) const {
    std::vector<const float*> contents;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bytes = static_cast<Bytes>(rows[i].size()) * length * kFloat;
      const float* data = PITWALL_TRY(contentsOf(*key, *values[i], bytes));
      contents.push_back(data);
    }
    PITWALL_TRY(ensureBlock(*into, count * length * kFloat));
    auto* const sum = static_cast<float*>(into->block.data());
    // Each thread has some rows of the sum, and looks for them in all lists.
    inParts(count, threads, [&](std::int64_t begin, std::int64_t end) {
      std::fill(sum + begin * length, sum + end * length, 0.0F);
      for (std::size_t i = 0; i < contents.size(); ++i) addRows(rows[i], contents[i], begin, end, sum);
    });
    return {};
  }

  void addRows(const RowList& list, const float* from, std::int64_t begin, std::int64_t end,
               float* sum) const {
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (list[at] < begin || list[at] >= end) continue;
      const float* const row = from + static_cast<std::int64_t>(at) * length;
      float* const to = sum + list[at] * length;
      for (std::int64_t i = 0; i < length; ++i) to[i] += row[i];
    }
  }
};

}  // namespace

Status checkRows(const Entry& entry, std::span<const StoreRows> all) {
  if (all.empty() || entry.shape().rank() == 0)
    return fail(ErrorCode::invalidInput,
                fmt::format("key '{}': no rows are given, or it has none", *entry.key));
  for (const StoreRows& one : all) PITWALL_TRY(checkOne(entry, one));
  return {};
}

Status pushRowSum(Entry& entry, const SumOptions& options, std::span<const StoreRows> values,
                  const Value& into, int priority) {
  if (onGpu(into)) {
    const Value sum{makeChunk(into.session(), hostOf(into.device()), MemoryTag::gradients, DType::float32),
                    into.shape};
    PITWALL_TRY(pushRowSum(entry, options, values, sum, priority));
    return copyInto("KVStoreBroadcastRows", sum, into, Phase::update);
  }
  const std::int64_t length = std::max<std::int64_t>(1, rowLength(entry.shape()));
  RowSum sum{.key = entry.key,
             .rows = {},
             .values = {},
             .into = into.chunk.get(),
             .count = entry.shape()[0],
             .length = rowLength(entry.shape()),
             .threads = {options.serial_rows ? 1 : options.threads, options.parallel_from / length}};
  std::vector<Value> reads;
  for (const StoreRows& one : values) {
    Value value = PITWALL_TRY(inHostMemory(valueOf(one.values)));
    sum.rows.push_back(one.rows);
    sum.values.push_back(value.chunk.get());
    reads.push_back(std::move(value));
  }
  into.chunk->layout = nullptr;
  // As the facts count: by elements.
  const SumThreads threads{sum.threads.threads, options.parallel_from};
  pushOperator(entry,
               {.name = "KVStoreReduceRows",
                .reads = reads,
                .writes = std::span(&into, 1),
                .device = into.device(),
                .priority = priority,
                .threads = threads},
               std::move(sum));
  return {};
}

namespace {

// `from` and `to` are in memory of the host.
void pushRowCopy(Entry& entry, const Value& from, const RowList& list, const Value& to, int priority) {
  to.chunk->layout = nullptr;
  auto run = [key = entry.key, rows = list, from = from.chunk.get(), to = to.chunk.get(),
              count = entry.shape()[0], length = rowLength(entry.shape())](const RunContext&) -> Status {
    const float* contents = PITWALL_TRY(contentsOf(*key, *from, count * length * kFloat));
    PITWALL_TRY(ensureBlock(*to, static_cast<Bytes>(rows.size()) * length * kFloat));
    auto* next = static_cast<float*>(to->block.data());
    for (const std::int64_t row : rows) {
      std::memcpy(next, contents + row * length, static_cast<std::size_t>(length) * sizeof(float));
      next += length;
    }
    return {};
  };
  pushOperator(entry,
               {.name = "KVStoreBroadcastRows",
                .reads = std::span(&from, 1),
                .writes = std::span(&to, 1),
                .device = to.device(),
                .elements = to.shape.elements(),
                .priority = priority},
               std::move(run));
}

}  // namespace

Status pushRowCopies(Entry& entry, const Value& stored, std::span<const StoreRows> outputs, int priority) {
  const Value from = PITWALL_TRY(inHostMemory(stored));
  for (const StoreRows& output : outputs) {
    const Value& to = valueOf(output.values);
    if (!onGpu(to)) {
      pushRowCopy(entry, from, output.rows, to, priority);
      continue;
    }
    const Value there{makeChunk(to.session(), hostOf(to.device()), MemoryTag::gradients, DType::float32),
                      to.shape};
    pushRowCopy(entry, from, output.rows, there, priority);
    PITWALL_TRY(copyInto("KVStoreBroadcastRows", there, to, Phase::update));
  }
  return {};
}

}  // namespace pitwall::kvstore
