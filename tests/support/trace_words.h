// The words of a trace's text: see trace_text.h.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::test {

using Words = std::vector<std::string>;

struct Line {
  int number = 0;
  Words words;
};

inline std::vector<Line> split(std::string_view text) {
  std::vector<Line> lines;
  std::istringstream stream{std::string(text)};
  int number = 0;
  for (std::string raw; std::getline(stream, raw);) {
    Line line{++number, {}};
    std::istringstream words(raw.substr(0, raw[0] == '#' ? 0 : raw.find(" #")));
    for (std::string word; words >> word;) line.words.push_back(word);
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

inline std::string spaced(std::string name) {
  for (char& c : name) c = c == '_' ? ' ' : c;
  return name;
}

inline std::string blanks(std::string name) {
  for (char& c : name) c = c == '~' ? ' ' : c;
  return name;
}

// "a", "b" and "c" of "a|b|c".
inline Words entriesOf(const std::string& list) {
  Words entries;
  std::istringstream stream(list);
  for (std::string entry; std::getline(stream, entry, '|');) entries.push_back(entry);
  return entries;
}

// The value of KEY=VALUE among the words from the third on; else the default.
inline std::string option(const Words& w, const std::string& key, const std::string& otherwise) {
  for (std::size_t i = 3; i < w.size(); ++i) {
    if (w[i].rfind(key + "=", 0) == 0) return w[i].substr(key.size() + 1);
  }
  return otherwise;
}

}  // namespace pitwall::test
