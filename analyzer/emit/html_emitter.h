// One HTML page that needs nothing else: style and charts are in it, and it asks no network.
#pragma once

#include <string>
#include <vector>

#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

std::string htmlEscaped(std::string_view text);

class HtmlEmitter : public Emitter {
 public:
  // `charts` is markup that precedes the rest.
  HtmlEmitter(std::string_view title, std::string_view charts);

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

  std::string out_;
  std::vector<const char*> closing_;  // of the open objects and lists
  bool in_items_ = false;
};

}  // namespace pitwall::emit
