#include "runtime/profiler/mxnet/chrome_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "db/json_string.h"
#include "db/write_all.h"

namespace pitwall::mxnet {

namespace {

constexpr char kEnd[] = "\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n";
constexpr int kOperatorPid = 0;  // MXNet's number for cpu/0
constexpr std::size_t kMostPending = 16 << 20;

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
  announce(kOperatorPid, "cpu/0");
  return flush();
}

void ChromeFile::close() {
  if (file_ < 0) return;
  (void)flush();
  ::close(file_);
  file_ = -1;
}

// --- labels ------------------------------------------------------------------------------------------------

void ChromeFile::announce(int pid, const std::string& name) {
  separate();
  pending_ += R"({"name":"process_name","ph":"M","pid":)" + std::to_string(pid) + R"(,"args":{"name":)" +
              jsonString(name) + "}}";
}

int ChromeFile::pidOf(const std::string& category) {
  if (category == "operator" || category == "Custom Operator") return kOperatorPid;
  const auto [entry, fresh] = pids_.try_emplace(category, static_cast<int>(pids_.size()) + 1);
  if (fresh) announce(entry->second, category);
  return entry->second;
}

ChromeFile::Label ChromeFile::label(const std::string& name, const std::string& category,
                                    const std::string& members) {
  Label label;
  label.names = "\"name\":" + jsonString(name);
  if (!category.empty()) label.names += ",\"cat\":" + jsonString(category);
  if (!members.empty()) label.args = ",\"args\":{" + members + "}";
  label.pid = pidOf(category);
  return label;
}

ChromeFile::Label ChromeFile::counterLabel(const std::string& name, const std::string& category) {
  Label made = label(name, category);
  made.args = ",\"args\":{" + jsonString(name) + ":";
  return made;
}

// --- events ------------------------------------------------------------------------------------------------

void ChromeFile::appendNumber(std::int64_t number) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number);
  pending_.append(text, end.ptr);
}

void ChromeFile::appendMicros(TimeNs ns) {
  appendNumber(ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  const char digits[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  pending_.append(digits, sizeof digits);
}

void ChromeFile::separate() {
  pending_ += any_ ? ",\n    " : "\n    ";
  any_ = true;
}

void ChromeFile::begin(const Label& label, std::string_view phase, TimeNs ns) {
  separate();
  pending_ += '{';
  pending_ += label.names;
  pending_ += ",\"ph\":\"";
  pending_ += phase;
  pending_ += "\",\"ts\":";
  appendMicros(ns);
}

void ChromeFile::place(const Label& label, std::int64_t tid) {
  pending_ += ",\"pid\":";
  appendNumber(label.pid);
  pending_ += ",\"tid\":";
  appendNumber(tid);
}

void ChromeFile::end(const Label& label, std::int64_t tid) {
  place(label, tid);
  pending_ += label.args;
  pending_ += '}';
}

void ChromeFile::complete(const Label& label, const Span& span) {
  begin(label, "X", span.start_ns);
  pending_ += ",\"dur\":";
  appendMicros(span.dur_ns);
  end(label, span.tid);
}

void ChromeFile::doubled(const Label& label, const Span& span) {
  Label bare = label;
  bare.args.clear();
  begin(label, "B", span.start_ns);
  end(label, span.tid);
  begin(bare, "E", span.start_ns + span.dur_ns);
  end(bare, span.tid);
  begunAndEnded(bare, span);
}

void ChromeFile::begunAndEnded(const Label& label, const Span& span) {
  const std::uint64_t id = next_id_++;
  for (const bool first : {true, false}) {
    begin(label, first ? "b" : "e", span.start_ns + (first ? 0 : span.dur_ns));
    pending_ += ",\"id\":";
    appendNumber(static_cast<std::int64_t>(id));
    end(label, span.tid);
  }
}

void ChromeFile::frame(const Label& label, const Span& span) {
  begin(label, "(", span.start_ns);
  end(label, span.tid);
  begin(label, ")", span.start_ns + span.dur_ns);
  end(label, span.tid);
}

void ChromeFile::marker(const Label& label, const Span& span, char scope) {
  begin(label, "i", span.start_ns);
  pending_ += ",\"s\":\"";
  pending_ += scope;
  pending_ += '"';
  end(label, span.tid);
}

void ChromeFile::counter(const Label& counter_label, TimeNs time_ns, double value) {
  begin(counter_label, "C", time_ns);
  place(counter_label, 0);
  pending_ += counter_label.args;
  if (std::abs(value) < 1e15 && value == std::trunc(value)) {
    appendNumber(static_cast<std::int64_t>(value));
  } else if (std::isfinite(value)) {
    char number[32];
    std::snprintf(number, sizeof number, "%.15g", value);
    pending_ += number;
  } else {
    pending_ += "null";  // JSON has no infinity
  }
  pending_ += "}}";
}

// --- the file ----------------------------------------------------------------------------------------------

// Old end and new events in one write: after a kill the file is either the old or the new one.
Status ChromeFile::flush() {
  if (file_ < 0) return {};
  const std::size_t events = pending_.size();
  pending_ += kEnd;
  if (const int error = writeAllAt(file_, pending_, written_); error != 0) {
    pending_.resize(events <= kMostPending ? events : 0);
    return fail(ErrorCode::io, "cannot write the profile '" + path_ + "': " + std::strerror(error) +
                                   "; free space, or choose another filename");
  }
  written_ += static_cast<std::int64_t>(events);
  pending_.clear();
  return {};
}

}  // namespace pitwall::mxnet
