#include "db/unfinished.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "db/mutex.h"

namespace pitwall {

namespace {

struct Names {
  Mutex mutex;
  std::map<std::string, Unfinished::Kind> kinds PITWALL_GUARDED_BY(mutex);
};

// Never destroyed: a signal may come while the process ends.
Names& names() {
  static Names& all = *new Names;
  return all;
}

// Leftovers say by their names what they are.
void removeAt(const std::string& path, Unfinished::Kind kind) noexcept {
  if (kind == Unfinished::Kind::file) return removeWithSideFiles(path);
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

std::string draftPath(const std::string& path) { return path + "." + std::to_string(::getpid()) + ".draft"; }

void removeWithSideFiles(const std::string& path) noexcept {
  for (const std::string& file : {path, draftPath(path)}) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) ::unlink((file + suffix).c_str());
  }
}

Unfinished::Unfinished(std::string path, Kind kind) : path_(std::move(path)), kind_(kind) {
  const ScopedLock lock(names().mutex);
  names().kinds.emplace(path_, kind_);
}

Unfinished Unfinished::madeBy(const std::function<std::string()>& make, Kind kind) {
  Unfinished made;
  const ScopedLock lock(names().mutex);
  made.path_ = make();
  made.kind_ = kind;
  if (!made.path_.empty()) names().kinds.emplace(made.path_, kind);
  return made;
}

Unfinished::Unfinished(Unfinished&& other) noexcept
    : path_(std::exchange(other.path_, {})), kind_(other.kind_) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    kind_ = other.kind_;
  }
  return *this;
}

void Unfinished::remove() noexcept {
  if (path_.empty()) return;
  removeAt(path_, kind_);
  const ScopedLock lock(names().mutex);
  names().kinds.erase(path_);
}

void removeUnfinished() noexcept PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  names().mutex.lock();  // and never released
  for (const auto& [path, kind] : names().kinds) removeAt(path, kind);
}

}  // namespace pitwall
