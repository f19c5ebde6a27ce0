#include "runtime/profiler/mxnet/chrome_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "db/ring_decoder.h"

namespace pitwall::mxnet {

namespace {

constexpr char kEnd[] = "\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n";
constexpr int kOperatorPid = 0;  // MXNet's number for cpu/0

std::string micros(TimeNs ns) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%" PRId64 ".%03d", ns / 1000, static_cast<int>(ns % 1000));
  return buffer;
}

}  // namespace

Status ChromeFile::open(const std::string& path) {
  close();
  path_ = path;
  file_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0)
    return fail(ErrorCode::io, "cannot write the profile '" + path + "': " + std::strerror(errno) +
                                   "; choose another filename");
  written_ = 0;
  any_ = false;
  pids_.clear();
  pending_ = "{\n    \"traceEvents\": [";
  add({"process_name", "", 0, 0, 0, "\"name\":\"cpu/0\""}, "M", -1, "", kOperatorPid);
  return flush();
}

void ChromeFile::close() {
  if (file_ < 0) return;
  (void)flush();
  ::close(file_);
  file_ = -1;
}

int ChromeFile::pidOf(const std::string& category) {
  if (category == "operator" || category == "Custom Operator") return kOperatorPid;
  const auto [entry, fresh] = pids_.try_emplace(category, static_cast<int>(pids_.size()) + 1);
  if (fresh)
    add({"process_name", "", 0, 0, 0, "\"name\":" + ring::quoteJson(category)}, "M", -1, "", entry->second);
  return entry->second;
}

void ChromeFile::add(const Item& item, std::string_view phase, TimeNs ns, std::string_view more, int pid) {
  if (file_ < 0) return;
  pending_ += any_ ? ",\n    {" : "\n    {";
  any_ = true;
  pending_ += "\"name\":" + ring::quoteJson(item.name);
  if (!item.category.empty()) pending_ += ",\"cat\":" + ring::quoteJson(item.category);
  pending_ += ",\"ph\":\"" + std::string(phase) + "\"";
  if (ns >= 0) pending_ += ",\"ts\":" + micros(ns);
  pending_ += more;
  pending_ += ",\"pid\":" + std::to_string(pid);
  if (ns >= 0) pending_ += ",\"tid\":" + std::to_string(item.tid);
  if (!item.args.empty()) pending_ += ",\"args\":{" + item.args + "}";
  pending_ += "}";
}

void ChromeFile::complete(const Item& item) {
  const int pid = pidOf(item.category);
  add(item, "X", item.start_ns, ",\"dur\":" + micros(item.dur_ns), pid);
}

void ChromeFile::doubled(const Item& item) {
  Item end = item;
  end.args.clear();
  add(item, "B", item.start_ns, "", kOperatorPid);
  add(end, "E", item.start_ns + item.dur_ns, "", kOperatorPid);
  begunAndEnded(end);
}

void ChromeFile::begunAndEnded(const Item& item) {
  const int pid = pidOf(item.category);
  const std::string id = ",\"id\":" + std::to_string(next_id_++);
  add(item, "b", item.start_ns, id, pid);
  add(item, "e", item.start_ns + item.dur_ns, id, pid);
}

void ChromeFile::frame(const Item& item) {
  const int pid = pidOf(item.category);
  add(item, "(", item.start_ns, "", pid);
  add(item, ")", item.start_ns + item.dur_ns, "", pid);
}

void ChromeFile::marker(const Item& item, char scope) {
  const int pid = pidOf(item.category);
  add(item, "i", item.start_ns, std::string(",\"s\":\"") + scope + "\"", pid);
}

void ChromeFile::counter(const Item& item, double value) {
  const int pid = pidOf(item.category);
  char number[32];
  std::snprintf(number, sizeof number, "%.15g", value);
  Item with = item;
  with.args = ring::quoteJson(item.name) + ":" + number;
  add(with, "C", item.start_ns, "", pid);
}

// Old end and new events in one write: a kill finds the old file or the new one.
Status ChromeFile::flush() {
  if (file_ < 0) return {};
  const std::size_t events = pending_.size();
  pending_ += kEnd;
  std::size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t got = ::pwrite(file_, pending_.data() + done, pending_.size() - done,
                                 static_cast<off_t>(written_ + static_cast<std::int64_t>(done)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      pending_.resize(events);
      return fail(ErrorCode::io, "cannot write the profile '" + path_ + "': " + std::strerror(errno) +
                                     "; free space, or choose another filename");
    }
    done += static_cast<std::size_t>(got);
  }
  written_ += static_cast<std::int64_t>(events);
  pending_.clear();
  return {};
}

}  // namespace pitwall::mxnet
