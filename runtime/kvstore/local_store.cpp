#include "runtime/kvstore/local_store.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/kvstore/rows.h"
#include "runtime/operators/support/copy.h"

namespace pitwall::kvstore {
namespace {

Status checkArray(const std::string& key, const NDArray& array, const Shape& shape) {
  if (!array) return fail(ErrorCode::invalidInput, fmt::format("key '{}': an array is an empty handle", key));
  if (array.dtype() != DType::float32)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("key '{}': an array of {}; a store has arrays of float32", key, toString(array.dtype())));
  if (array.shape() != shape)
    return fail(ErrorCode::invalidInput, fmt::format("key '{}' has shape {}, an array {}", key,
                                                     shape.toString(), array.shape().toString()));
  return {};
}

}  // namespace

Result<std::vector<Value>> LocalStore::valuesOf(const Entry& entry, std::span<const NDArray> arrays) {
  if (arrays.empty())
    return fail(ErrorCode::invalidInput, fmt::format("key '{}': no array is given", *entry.key));
  std::vector<Value> values;
  for (const NDArray& array : arrays) {
    PITWALL_TRY(checkArray(*entry.key, array, entry.shape()));
    values.push_back(valueOf(array));
  }
  return values;
}

LocalStore::LocalStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer)
    : session_(session),
      type_(std::move(type)),
      reducer_(std::move(reducer)),
      options_(SumOptions::of(session)) {}

Status LocalStore::checkKey(const StoreKey& key) const {
  if (!entries_.empty() && entries_.begin()->first.isText() != key.isText())
    return fail(ErrorCode::invalidInput,
                fmt::format("key '{}': Mixed key types are not allowed; the keys of this store are {}",
                            key.toString(), key.isText() ? "numbers" : "texts"));
  return {};
}

Result<Entry*> LocalStore::find(const StoreKey& key) {
  PITWALL_TRY(checkKey(key));
  const auto found = entries_.find(key);
  if (found != entries_.end()) return &found->second;
  return fail(ErrorCode::notFound,
              fmt::format("the store has no key '{}'; call init() first", key.toString()));
}

Status LocalStore::init(const StoreKey& key, const NDArray& value) {
  PITWALL_TRY(add(key, value));
  Entry& entry = entries_.at(key);
  return shareFirst(entry, valueOf(entry.stored->value));
}

Status LocalStore::add(const StoreKey& key, const NDArray& value) {
  PITWALL_TRY(checkKey(key));
  const std::string name = key.toString();
  if (entries_.contains(key))
    return fail(ErrorCode::invalidInput,
                fmt::format("key '{}' exists already; init() adds a key once", name));
  PITWALL_TRY(checkArray(name, value, value ? value.shape() : Shape()));
  const Value copied = PITWALL_TRY(copyToDevice(valueOf(value), value.device(), Phase::none));
  auto parameter = std::make_shared<nn::Parameter>();
  parameter->name = name;
  parameter->value = makeArray(copied);
  Entry& entry = entries_[key];
  entry.key = std::make_shared<const std::string>(name);
  entry.stored = std::move(parameter);
  reducer_->added(entry);
  return {};
}

// Keys are initialised where their first value was.
Status LocalStore::moveHome(Entry& entry, Device home) {
  NDArray& stored = entry.stored->value;
  if (stored.device() == home) return {};
  stored = makeArray(PITWALL_TRY(copyToDevice(valueOf(stored), home, Phase::none)));
  return {};
}

// Without an updater the sum is the new contents.
Result<NDArray> LocalStore::reduced(Entry& entry, std::span<const Value> values, int priority) {
  if (updates() && values.size() == 1 && reducer_->keepsSingle() && !sumsAreShared())
    return makeArray(values[0]);
  NDArray& stored = entry.stored->value;
  NDArray sum = stored;
  if (updates()) {
    if (!entry.sum || entry.sum.device() != stored.device())
      entry.sum =
          NDArray::empty(session_, entry.shape(), MemoryTag::gradients, DType::float32, stored.device());
    sum = entry.sum;
  }
  PITWALL_TRY(reducer_->reduce(entry, values, valueOf(sum), priority));
  PITWALL_TRY(shareSum(entry, valueOf(sum), priority));
  return sum;
}

Status LocalStore::use(const StoreKey& key, Entry& entry, const NDArray& sum, int /*priority*/) {
  NDArray& stored = entry.stored->value;
  if (updater_ != nullptr) return updater_(key, sum, stored);
  if (optimizer_ == nullptr) return {};
  NDArray gradient = sum;
  if (gradient.device() != stored.device())
    gradient = makeArray(PITWALL_TRY(copyToDevice(valueOf(sum), stored.device(), Phase::update)));
  // Once, so that no later gradient needs to be reordered.
  if (!valueOf(stored).chunk->viewed)
    PITWALL_TRY(convertLayout(nullptr, valueOf(stored), valueOf(gradient).chunk->layout, Phase::update));
  stored.impl()->gradient = std::move(gradient);
  return optimizer_->stepOne(entry.stored, batch_size_);
}

Status LocalStore::push(const StoreKey& key, std::span<const NDArray> values, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  const std::vector<Value> given = PITWALL_TRY(valuesOf(entry, values));
  PITWALL_TRY(moveHome(entry, homeOf(entry, given)));
  const NDArray sum = PITWALL_TRY(reduced(entry, given, priority));
  return use(key, entry, sum, priority);
}

Status LocalStore::pull(const StoreKey& key, std::span<const NDArray> outputs, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  const std::vector<Value> wanted = PITWALL_TRY(valuesOf(entry, outputs));
  return reducer_->broadcast(entry, valueOf(entry.stored->value), wanted, priority);
}

Status LocalStore::pushRows(const StoreKey& key, std::span<const StoreRows> values, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  PITWALL_TRY(checkRows(entry, values));
  if (sumsAreShared())
    return fail(
        ErrorCode::unsupported,
        fmt::format("key '{}': rows are not pushed between processes; push the whole array", *entry.key));
  NDArray sum = entry.stored->value;
  if (updates())
    sum = NDArray::empty(session_, entry.shape(), MemoryTag::gradients, DType::float32,
                         entry.stored->value.device());
  PITWALL_TRY(pushRowSum(entry, options_, values, valueOf(sum), priority));
  return use(key, entry, sum, priority);
}

Status LocalStore::pullRows(const StoreKey& key, std::span<const StoreRows> outputs, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  PITWALL_TRY(checkRows(entry, outputs));
  return pushRowCopies(entry, valueOf(entry.stored->value), outputs, priority);
}

Status LocalStore::setUpdater(Updater updater) {
  updater_ = std::move(updater);
  optimizer_ = nullptr;
  return {};
}

Status LocalStore::setOptimizer(const OptimizerChoice& choice) {
  optimizer_ = PITWALL_TRY(makeOptimizer(choice));
  if (rate_ >= 0) optimizer_->setRate(rate_);
  updater_ = nullptr;
  return {};
}

void LocalStore::setRate(float rate) {
  rate_ = rate;
  if (optimizer_ != nullptr) optimizer_->setRate(rate);
}

Status LocalStore::setCompression(const StoreCompression& compression) {
  return reducer_->setCompression(compression);
}

}  // namespace pitwall::kvstore
