#include "analyzer/record/capture/verbose_filter.h"

#include <algorithm>
#include <array>

namespace pitwall::record {
namespace {

constexpr std::array<std::string_view, 3> kMarkers = {"onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"};
// A marker is followed by a version ("v1,"), a time or one of these words.
constexpr std::array<std::string_view, 10> kWords = {"exec",   "info",  "create", "graph",   "primitive",
                                                     "common", "error", "warn",   "profile", "ukernel"};
constexpr std::size_t kLongestLine = 1 << 20;  // limits the memory for a line without an end

enum class Match { no, partly, yes };

// Whether `text` begins with a verbose line; partly: more bytes decide.
Match matches(std::string_view text) {
  bool partly = false;
  for (const std::string_view marker : kMarkers) {
    const std::size_t common = std::min(marker.size(), text.size());
    if (text.substr(0, common) != marker.substr(0, common)) continue;
    if (text.size() <= marker.size()) {
      partly = true;
      continue;
    }
    const std::string_view rest = text.substr(marker.size());
    if (rest.front() >= '0' && rest.front() <= '9') return Match::yes;
    if (rest.front() == 'v') {
      if (rest.size() == 1)
        partly = true;
      else if (rest[1] >= '0' && rest[1] <= '9')
        return Match::yes;
    }
    for (const std::string_view word : kWords) {
      if (rest.starts_with(word)) return Match::yes;
      partly = partly || word.starts_with(rest);
    }
  }
  return partly ? Match::partly : Match::no;
}

bool mayBegin(char c) { return c == 'o' || c == 'd' || c == 'm'; }

}  // namespace

void VerboseFilter::take(std::string_view bytes, std::string& passed, std::string& lines) {
  std::string joined;
  if (!held_.empty()) {
    joined = std::move(held_);
    held_.clear();
    joined += bytes;
    bytes = joined;
  }
  while (!bytes.empty()) {
    if (in_line_) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end == bytes.npos ? bytes.npos : end + 1);
      if (end == bytes.npos && line_.size() < kLongestLine) return;
      if (line_.back() != '\n') line_ += '\n';
      lines += line_;
      if (leave_) passed += line_;
      line_.clear();
      in_line_ = end == bytes.npos;
      bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
      continue;
    }
    const auto candidate = std::ranges::find_if(bytes, mayBegin);
    passed.append(bytes.begin(), candidate);
    bytes.remove_prefix(static_cast<std::size_t>(candidate - bytes.begin()));
    switch (bytes.empty() ? Match::no : matches(bytes.substr(0, 32))) {
      case Match::yes: in_line_ = true; break;
      case Match::partly: held_ = bytes; return;
      case Match::no:
        if (!bytes.empty()) passed += bytes.front();
        bytes.remove_prefix(std::min<std::size_t>(1, bytes.size()));
    }
  }
}

void VerboseFilter::flush(std::string& passed) {
  passed += held_;
  held_.clear();
}

void VerboseFilter::finish(std::string& passed, std::string& lines) {
  flush(passed);
  if (line_.empty()) return;
  if (leave_) passed += line_;
  lines += line_ + '\n';
  line_.clear();
  in_line_ = false;
}

}  // namespace pitwall::record
