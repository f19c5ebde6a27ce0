#include "runtime/backend/support/kernel_choices.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "db/write_all.h"

namespace pitwall {

KernelChoices::KernelChoices(std::string path, std::string machine)
    : path_(std::move(path)), machine_(std::move(machine)) {
  if (path_.empty()) return;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos || std::string_view(line).substr(0, first) != machine_) continue;
    choices_[line.substr(first + 1, second - first - 1)] = line.substr(second + 1);
  }
}

std::optional<std::string> KernelChoices::find(const std::string& problem) const {
  const ScopedLock lock(mutex_);
  const auto found = choices_.find(problem);
  if (found == choices_.end()) return std::nullopt;
  return found->second;
}

void KernelChoices::add(const std::string& problem, std::string_view choice, Keep keep) {
  {
    const ScopedLock lock(mutex_);
    choices_[problem] = choice;
  }
  if (path_.empty() || keep == Keep::inMemory) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return;
  // One write each: the lines of several processes do not mix.
  std::string line = machine_ + '\t' + problem + '\t';
  line += choice;
  line += '\n';
  (void)writeAll(file, line);
  ::close(file);
}

}  // namespace pitwall
