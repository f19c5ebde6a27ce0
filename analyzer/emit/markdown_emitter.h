// GitHub-flavoured Markdown, for issues, pull requests and wikis.
#pragma once

#include <string>

#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

class MarkdownEmitter : public Emitter {
 public:
  void beginObject(std::string_view key, std::string_view title, Style style) override;
  void endObject() override {}
  void beginList(std::string_view key, std::string_view title) override;
  void endList() override {}
  void field(std::string_view key, std::string_view label, const Cell& cell) override;
  void table(std::string_view key, std::string_view label, const Table& table) override;
  void code(std::string_view label, std::string_view text) override;
  void heading(std::string_view title) override;
  void paragraph(std::string_view text) override;

  std::string take() && { return std::move(out_); }

 private:
  void endItems();  // a list of fields needs a blank line after it

  std::string out_;
  bool in_items_ = false;
};

}  // namespace pitwall::emit
