// Which implementation of an operator was the fastest on this machine, as measured: kept in memory and, so that later
// processes need not measure again, in a file.
//
// The file is text with one line "MACHINE<tab>PROBLEM<tab>CHOICE" per measurement; of several for one problem the last counts.
// MACHINE is what a measurement depends on besides the problem: processor, library and its version, instruction set.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/mutex.h"

namespace pitwall {

class KernelChoices {
 public:
  // `path` is the file, "" for none. A file that cannot be read is taken as empty, and one that cannot be written stays as
  // it is: the choices then last as long as the process.
  KernelChoices(std::string path, std::string machine);

  std::optional<std::string> find(const std::string& problem) const;
  // A choice that is not worth keeping longer than the process stays in memory.
  enum class Keep : std::uint8_t { inMemory, inFile };
  // Neither text has a tab or a line break.
  void add(const std::string& problem, std::string_view choice, Keep keep);

 private:
  const std::string path_, machine_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::string> choices_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall
