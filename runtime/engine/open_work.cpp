#include "runtime/engine/open_work.h"

#include <algorithm>
#include <utility>

namespace pitwall::engine {
namespace {

bool isOver(const OpenWorkPtr& work) { return work == nullptr || work->isDone(); }

}  // namespace

bool OpenWork::hold(Operator& op) {
  const ScopedLock guard(lock_);
  if (isDone()) return false;
  held_.push_back(&op);
  return true;
}

bool OpenWork::end(bool failed) {
  const auto has_failed = [](const OpenWorkPtr& work) { return work->hasFailed(); };
  failed_ = failed || std::any_of(follows_.begin(), follows_.end(), has_failed);
  follows_.clear();
  return failed_;
}

std::vector<Operator*> OpenWork::release() {
  const ScopedLock guard(lock_);
  done_.store(true, std::memory_order_release);
  return std::exchange(held_, {});
}

std::vector<OpenWorkPtr> OpenWorks::before(std::span<const Access> uses) {
  std::vector<OpenWorkPtr> found;
  const auto append = [&](const OpenWorkPtr& work) {
    if (!isOver(work) && std::find(found.begin(), found.end(), work) == found.end()) found.push_back(work);
  };
  const ScopedLock guard(mutex_);
  for (const Access& access : uses) {
    const auto users = users_.find(access.variable);
    if (users == users_.end()) continue;
    append(users->second.writer);
    if (access.isWrite()) std::for_each(users->second.readers.begin(), users->second.readers.end(), append);
  }
  return found;
}

// A write follows all earlier accesses, so that who follows it follows them too.
void OpenWorks::add(std::span<const Access> uses, const OpenWorkPtr& work) {
  any_.store(true, std::memory_order_relaxed);
  const ScopedLock guard(mutex_);
  for (const Access& access : uses) {
    Users& users = users_[access.variable];
    if (access.isWrite()) {
      users.writer = work;
      users.readers.clear();
    } else {
      std::erase_if(users.readers, isOver);
      users.readers.push_back(work);
    }
  }
}

void OpenWorks::forget(const VariableState& variable) {
  const ScopedLock guard(mutex_);
  users_.erase(&variable);
}

}  // namespace pitwall::engine
