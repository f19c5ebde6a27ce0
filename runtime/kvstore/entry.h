// A key of a store, and the operators that work on it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/event.h"
#include "runtime/array/array.h"
#include "runtime/array/call.h"
#include "runtime/kvstore.h"
#include "runtime/kvstore/sum_threads.h"
#include "runtime/nn.h"

namespace pitwall::kvstore {

// The settings that sums obey; read once, when a store is created.
struct SumOptions {
  int threads = 1;  // MXNET_KVSTORE_REDUCTION_NTHREADS, at most those of an operator
  std::int64_t parallel_from =
      1000000;               // elements: MXNET_KVSTORE_BIGARRAY_BOUND; fewer are summed by one thread
  bool serial_rows = false;  // MXNET_KVSTORE_SERIAL_PUSH
  SumThreads forArrays() const { return {threads, parallel_from}; }
  static SumOptions of(Session& session);
};

// What 2-bit compression keeps for each pushed array, by its place in the push: what has not been sent yet, and its codes.
struct Residual {
  Value left;
  Value codes;
};

struct Entry {
  std::shared_ptr<const std::string> key;  // shared with pushed operators, which may outlive the store
  nn::ParameterPtr
      stored;  // its array is the contents; its gradient the sum of the last push where an updater wants one
  NDArray sum = {};       // of a push, where it is not the contents
  bool has_home = false;  // `home` is chosen
  Device home = {};       // of the contents, from the first push on
  std::vector<Residual> residuals = {};
  std::vector<Value> partial_sums = {};  // on the way along a tree
  SitePtr gpu_site = nullptr;            // the prepared kernels of the store on GPUs

  // The facts of the operators of this key, so that a repeated push makes no texts.
  struct Facts {
    const char* name;  // a literal: its address identifies the operator
    std::size_t inputs;
    std::int64_t elements;
    Device from, to;
    LayoutPtr layout;
    OperatorId id;
  };
  std::vector<Facts> facts = {};

  Session& session() const { return stored->value.session(); }
  const Shape& shape() const { return stored->value.shape(); }
};

// An operator of the store on arrays of one entry. All inputs have one specification.
struct StoreOperator {
  const char* name = "";  // a literal: "KVStoreReduce"
  std::span<const Value> reads = {};
  std::span<const Value> writes = {};
  Device device = {};          // whose worker runs it
  std::int64_t elements = -1;  // of each array that it works on; -1: all
  int priority = 0;
  SumThreads threads = {};        // that it uses
  std::string_view library = {};  // that does it; empty: none
};

// Pushes `run`. The chunks of the arrays live until it has run.
void pushOperator(Entry& entry, const StoreOperator& op, OperatorFunction run);

// That of the entry's kernels on GPUs.
const SitePtr& gpuSite(Entry& entry);

inline bool onGpu(const Value& value) { return value.device().kind == DeviceKind::gpu; }

// The bytes of a chunk that an operator reads. Errors: invalidInput, naming the key, if it was never written.
Result<const float*> contentsOf(const std::string& key, const Chunk& chunk, Bytes bytes);

// Each value, or a copy on `device` if the CPU cannot read its memory, in one layout: their common one, else row-major.
Result<std::vector<Value>> readable(std::span<const Value> values, Device device);

// Elements of an array, in the order of its memory.
struct Piece {
  Value array;
  std::int64_t begin = 0;
  std::int64_t count = -1;  // -1: all from `begin` on
};

// Pushes `into` := the sum of the pieces, which have one layout. `into` may be one of them.
void pushSumOf(Entry& entry, const SumOptions& options, std::span<const Piece> pieces, const Piece& into,
               int priority);
// Pushes `to` := `from`, which have one layout.
void pushCopyOf(Entry& entry, const SumOptions& options, const Piece& from, const Piece& to, int priority);

// Pushes `into` := the sum of the values. `into` gets their layout, unless it must stay row-major.
Status pushSum(Entry& entry, const SumOptions& options, std::span<const Value> values, const Value& into,
               int priority);

// Pushes `to` := `from`. `to` gets its layout, unless it must stay row-major.
Status pushCopy(Entry& entry, const SumOptions& options, const Value& from, const Value& to, int priority);

}  // namespace pitwall::kvstore
