#include "runtime/profiler/ring_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "runtime/profiler/identities.h"

namespace pitwall::profiler {

namespace {

constexpr std::size_t kNamesBytes = 64 * 1024;

std::size_t wholePages(std::size_t bytes) { return (bytes + ring::kPage - 1) / ring::kPage * ring::kPage; }

template <std::size_t N>
void copyText(char (&to)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

Result<std::unique_ptr<RingFile>> RingFile::create(const std::string& path, const Start& start) {
  // Replaced instead of truncated: another process may have the old one mapped.
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail(ErrorCode::io, "cannot replace '" + path + "': " + std::strerror(errno));
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return fail(ErrorCode::io, "cannot write '" + path + "': " + std::strerror(errno));
  std::unique_ptr<RingFile> made(new RingFile(path, file));
  if (Status status = made->prepare(start); !status.has_value()) {
    made->remove();
    return fail(status.error());
  }
  return made;
}

Status RingFile::prepare(const Start& start) {
  const auto refused = [this](int error) {
    return fail(ErrorCode::io, "cannot write '" + path_ + "': " + std::strerror(error));
  };
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;  // the process that completes a killed recording locks the second byte
  if (fcntl(file_, F_OFD_SETLK, &lock) != 0) return refused(errno);
  if (const int error = posix_fallocate(file_, 0, ring::kPage); error != 0) return refused(error);
  void* const memory = mmap(nullptr, ring::kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return refused(errno);
  header_ = new (memory) ring::FileHeader;
  header_->version = ring::kVersion;
  header_->header_bytes = sizeof(ring::FileHeader);
  header_->ticks_are_ns = start.ticks_are_ns ? 1 : 0;
  header_->pid = start.process.pid;
  header_->rank = start.process.rank;
  header_->start_unix_ns = start.unix_ns;
  header_->start = start.clock;
  copyText(header_->process_name, start.process.name);
  copyText(header_->command_line, start.process.command_line);
  header_->file_bytes = ring::kPage;
  header_->check = ring::checkOf(*header_);
  std::memcpy(header_->magic, ring::kMagic, sizeof ring::kMagic);  // last: makes the file valid
  return {};
}

RingFile::~RingFile() {
  if (header_ != nullptr) munmap(static_cast<void*>(header_), ring::kPage);
  if (names_ != nullptr) munmap(static_cast<void*>(names_), names_->extent.bytes);
  if (file_ >= 0) ::close(file_);
}

bool RingFile::extend(std::size_t bytes, std::uint64_t& at) {
  at = header_->file_bytes.load(std::memory_order_relaxed);
  return posix_fallocate(file_, static_cast<off_t>(at), static_cast<off_t>(bytes)) == 0;
}

void* RingFile::mapExtent(std::uint32_t kind, std::size_t bytes) {
  const ScopedLock lock(mutex_);
  if (file_ < 0) return nullptr;
  std::uint64_t at = 0;
  if (!extend(bytes, at)) return nullptr;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(at));
  if (memory == MAP_FAILED) return nullptr;
  new (memory) ring::ExtentHeader{kind, 0, bytes};
  header_->file_bytes.store(at + bytes, std::memory_order_release);
  return memory;
}

void RingFile::writeSite(std::uint32_t id, const Site& site) {
  ring::NameEntry entry{};
  entry.what = ring::NameEntry::kSite;
  entry.id = id;
  entry.number = static_cast<std::uint32_t>(site.kind);
  writeName(entry, {site.name, site.args});
}

void RingFile::writeFacts(std::uint32_t id, const OperatorFacts& facts) {
  ring::NameEntry entry{};
  entry.what = ring::NameEntry::kOperator;
  entry.id = id;
  entry.number = static_cast<std::uint32_t>(facts.phase);
  entry.flop = facts.flop;
  entry.bytes_read = facts.bytes_read;
  entry.bytes_written = facts.bytes_written;
  writeName(entry, {facts.name, facts.layer, facts.shapes, facts.dtype, facts.backend, facts.implementation});
}

void RingFile::writeName(ring::NameEntry entry, std::initializer_list<std::string_view> texts) {
  std::size_t bytes = sizeof entry;
  for (const std::string_view text : texts) bytes += sizeof(std::uint32_t) + text.size();
  bytes = (bytes + 7) / 8 * 8;
  entry.bytes = static_cast<std::uint32_t>(bytes);
  entry.fields = static_cast<std::uint32_t>(texts.size());
  const auto room = [this] {
    return names_ == nullptr ? 0 : names_->extent.bytes - sizeof(ring::NamesHeader) - names_->used.load();
  };
  if (room() < bytes) {
    const std::size_t extent = std::max(kNamesBytes, wholePages(bytes + sizeof(ring::NamesHeader)));
    void* const fresh = mapExtent(ring::kNamesExtent, extent);
    if (fresh == nullptr) return;
    if (names_ != nullptr) munmap(static_cast<void*>(names_), names_->extent.bytes);
    names_ = static_cast<ring::NamesHeader*>(fresh);
  }
  const std::uint64_t used = names_->used.load(std::memory_order_relaxed);
  char* at = reinterpret_cast<char*>(names_) + sizeof(ring::NamesHeader) + used;
  std::memcpy(at, &entry, sizeof entry);
  at += sizeof entry;
  for (const std::string_view text : texts) {
    const auto length = static_cast<std::uint32_t>(text.size());
    std::memcpy(at, &length, sizeof length);
    std::memcpy(at + sizeof length, text.data(), text.size());
    at += sizeof length + text.size();
  }
  names_->used.store(used + bytes, std::memory_order_release);
}

void RingFile::addClockPair(ring::ClockPair pair) {
  const std::uint64_t written = header_->pairs_written.load(std::memory_order_relaxed);
  header_->pair(written % ring::FileHeader::kPairs) = pair;
  header_->pairs_written.store(written + 1, std::memory_order_release);
}

void RingFile::addLost(std::int64_t count, TimeNs from_ns, TimeNs to_ns, std::string_view reason) {
  if (header_->lost.load() == 0) {
    header_->lost_from_ns = from_ns;
    copyText(header_->lost_reason, reason);
  }
  header_->lost_to_ns = to_ns;
  header_->lost.fetch_add(count);
}

void RingFile::remove() { ::unlink(path_.c_str()); }

void RingFile::closeInChild() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (header_ != nullptr) munmap(static_cast<void*>(header_), ring::kPage);
  header_ = nullptr;
  if (names_ != nullptr) munmap(static_cast<void*>(names_), names_->extent.bytes);
  names_ = nullptr;
}

}  // namespace pitwall::profiler
