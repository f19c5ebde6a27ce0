// Rows of the table that MXNet's dumps() returns.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace pitwall::mxnet {

// `name count` of each row of the category, in order.
inline std::vector<std::string> rowsOf(const std::string& table, const std::string& category) {
  std::vector<std::string> rows;
  const std::size_t at = table.find("\n" + category + "\n=================\n");
  if (at == std::string::npos) return rows;
  std::istringstream in(table.substr(at + 1));
  std::string line;
  for (int i = 0; i < 4; ++i) std::getline(in, line);
  while (std::getline(in, line) && !line.empty()) {
    std::istringstream words(line);
    std::string name, count;
    words >> name >> count;
    rows.push_back(name + " " + count);
  }
  return rows;
}

}  // namespace pitwall::mxnet
