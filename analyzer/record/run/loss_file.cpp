#include "analyzer/record/run/loss_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "db/write_all.h"

namespace pitwall::record {
namespace {

template <std::size_t N>
void copyText(char (&to)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// The file's reader checks whether its recorder is still running.
bool lockAsRecorder(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

}  // namespace

LossFile::~LossFile() {
  if (file_ >= 0) ::close(file_);
}

void LossFile::open(const std::string& trace_path, const TraceClock& clock, const ProcessInfo& program) {
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(trace_path, error);
  path_ = ring::filePath(error ? trace_path : target.string());
  ::unlink(path_.c_str());  // of an earlier recording
  file_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (file_ < 0) return;
  if (posix_fallocate(file_, 0, ring::kPage) != 0 || !lockAsRecorder(file_)) return remove();
  ring::FileHeader& header = *new (&page_.header) ring::FileHeader{};
  std::memcpy(header.magic, ring::kMagic, sizeof ring::kMagic);
  header.version = ring::kVersion;
  header.header_bytes = sizeof header;
  header.ticks_are_ns = 1;
  header.pid = program.pid;
  header.rank = program.rank;
  header.start_unix_ns = clock.start_unix_ns;
  start_ = static_cast<std::uint64_t>(clock.start_monotonic_ns);
  header.start = {start_, clock.start_monotonic_ns};
  copyText(header.process_name, program.name);
  copyText(header.command_line, program.command_line);
  header.file_bytes = ring::kPage;
  header.process = 1;  // the program, if the trace has its row
  header.check = ring::checkOf(header);
  write();
}

void LossFile::reached(TimeNs now_ns) {
  if (file_ < 0) return;
  reached_ns_ = now_ns;
  ring::FileHeader& header = page_.header;
  const std::uint64_t written = header.pairs_written.load();
  const TimeNs monotonic_ns = static_cast<TimeNs>(start_) + now_ns;
  header.pair(written % ring::FileHeader::kPairs) = {static_cast<std::uint64_t>(monotonic_ns), monotonic_ns};
  header.pairs_written = written + 1;
  write();
}

void LossFile::lost(std::int64_t count, std::string_view reason) {
  if (file_ < 0) return;
  ring::FileHeader& header = page_.header;
  header.lost = std::max<std::int64_t>(1, count);
  header.lost_from_ns = reached_ns_;
  copyText(header.lost_reason, reason);
}

void LossFile::lostUntil(TimeNs now_ns) {
  if (file_ < 0 || page_.header.lost == 0) return;
  page_.header.lost_to_ns = now_ns;
  reached(now_ns);  // the end of the trace
}

void LossFile::write() {
  if (writeAllAt(file_, {reinterpret_cast<const char*>(page_.bytes), sizeof page_.bytes}, 0) != 0) remove();
}

void LossFile::remove() {
  if (file_ < 0) return;
  ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace pitwall::record
