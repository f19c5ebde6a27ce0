// One HTML page that needs nothing else: style, script, charts and data are in it, and it asks no network.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

std::string htmlEscaped(std::string_view text);

// What a page has beside the walk over its report.
struct PageParts {
  // Markup before the outermost object or list of a key: charts, the timeline. "" = before everything.
  std::map<std::string, std::string> before;
  std::set<std::string> places;  // that the timeline can show: names of rows
};

// A page stays below a size whatever its report: the more is on it, the shorter are texts and tables.
class HtmlEmitter : public Emitter {
 public:
  HtmlEmitter(std::string_view title, PageParts parts);

  void beginObject(std::string_view key, std::string_view title, Style style) override;
  void endObject() override;
  void beginList(std::string_view key, std::string_view title) override;
  void endList() override;
  void field(std::string_view key, std::string_view label, const Cell& cell) override;
  void table(std::string_view key, std::string_view label, const Table& table) override;
  void code(std::string_view label, std::string_view text) override;
  void heading(std::string_view title) override;
  void paragraph(std::string_view text) override;

  std::string take() &&;

 private:
  void endItems();
  void insertPart(std::string_view key);
  void begin(std::string_view key, const std::string& opening, const char* closing);
  std::string shownText(std::string_view text) const;
  std::size_t shownRows() const;
  std::string rowMarkup(const Table& table, const std::vector<std::size_t>& shown, std::size_t row,
                        bool has_places) const;

  PageParts parts_;
  std::string title_, out_;
  std::size_t parts_bytes_ = 0;                                // of out_: parts, which have their own limits
  std::vector<std::string> closing_;                           // of the open objects and lists
  std::vector<std::pair<std::string, std::string>> headings_;  // id and text
  bool in_items_ = false;
  std::size_t items_ = 0;  // of the open list of items
};

}  // namespace pitwall::emit
