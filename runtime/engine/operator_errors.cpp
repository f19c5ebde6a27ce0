#include "runtime/engine/operator_errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace pitwall::engine {
namespace {

void addUnique(std::vector<std::shared_ptr<ErrorRecord>>& records,
               const std::shared_ptr<ErrorRecord>& record) {
  if (std::find(records.begin(), records.end(), record) == records.end()) records.push_back(record);
}

bool isReported(const std::shared_ptr<ErrorRecord>& record) { return record->reported; }

}  // namespace

void OperatorErrors::add(const Operator& op, Error error) {
  const ScopedLock guard(mutex_);
  records_.push_back(std::make_shared<ErrorRecord>(ErrorRecord{std::move(error)}));
  live_.fetch_add(1, std::memory_order_release);
  if (op.ends_variable) return;  // its variable no longer carries errors
  for (const Access& access : op.uses()) {
    if (access.isWrite()) attach(*access.variable, {records_.back()});
  }
}

bool OperatorErrors::inherit(const Operator& op) {
  const ScopedLock guard(mutex_);
  Records inherited;
  for (const Access& access : op.uses()) {
    if (access.variable->errors == nullptr) continue;
    for (const auto& record : access.variable->errors->records) {
      if (!record->reported) addUnique(inherited, record);
    }
  }
  if (inherited.empty()) return false;
  if (op.ends_variable) return true;
  for (const Access& access : op.uses()) {
    if (access.isWrite()) attach(*access.variable, inherited);
  }
  return true;
}

Status OperatorErrors::report(VariableState& variable) {
  if (live() == 0) return {};
  const ScopedLock guard(mutex_);
  if (variable.errors == nullptr) return {};
  Records records;
  std::swap(records, variable.errors->records);
  std::erase_if(records, isReported);
  return take(records);
}

Status OperatorErrors::reportAll() {
  if (live() == 0) return {};
  const ScopedLock guard(mutex_);
  const Records records = records_;
  return take(records);
}

void OperatorErrors::forget(VariableState& variable) {
  if (variable.errors == nullptr) return;
  const ScopedLock guard(mutex_);
  delete std::exchange(variable.errors, nullptr);
}

void OperatorErrors::attach(VariableState& variable, const Records& records) {
  if (variable.errors == nullptr) variable.errors = new ErrorList;
  std::erase_if(variable.errors->records, isReported);
  for (const auto& record : records) addUnique(variable.errors->records, record);
}

Status OperatorErrors::take(const Records& records) {
  if (records.empty()) return {};
  for (const auto& record : records) record->reported = true;
  std::erase_if(records_, isReported);
  live_.fetch_sub(static_cast<std::uint32_t>(records.size()), std::memory_order_release);
  if (records.size() == 1) return fail(records[0]->error);
  std::string text = fmt::format("{} operators failed", records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    text += fmt::format("{} [{}] {}", i == 0 ? ":" : ";", i + 1, records[i]->error.message);
  }
  return fail(records[0]->error.code, std::move(text));
}

}  // namespace pitwall::engine
