#include "analyzer/record/stacks/process_memory.h"

#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace pitwall::record {

bool RemoteMemory::read(std::span<const Part> parts) const {
  thread_local std::array<iovec, kMostParts> local, remote;
  if (parts.size() > kMostParts) return false;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    local[i] = {parts[i].to, parts[i].size};
    // An address of the other process; the kernel checks it.
    remote[i] = {reinterpret_cast<void*>(parts[i].from), parts[i].size};
    wanted += parts[i].size;
  }
  const ssize_t got = process_vm_readv(pid_, local.data(), parts.size(), remote.data(), parts.size(), 0);
  if (got < 0) error_ = errno;
  return got == static_cast<ssize_t>(wanted);
}

}  // namespace pitwall::record
