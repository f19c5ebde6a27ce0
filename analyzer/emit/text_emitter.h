// Plain text for a terminal or a log, wrapped, coloured only when asked.
#pragma once

#include <string>

#include "analyzer/emit.h"
#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

class TextEmitter : public Emitter {
 public:
  explicit TextEmitter(TextOptions options) : options_(options) {}

  void beginObject(std::string_view key, std::string_view title, Style style) override;
  void endObject() override;
  void beginList(std::string_view key, std::string_view title) override;
  void endList() override;
  void field(std::string_view key, std::string_view label, const Cell& cell) override;
  void table(std::string_view key, std::string_view label, const Table& table) override;
  void code(std::string_view label, std::string_view text) override;
  void heading(std::string_view title) override;
  void paragraph(std::string_view text) override;

  std::string take() && { return std::move(out_); }

 private:
  void line(std::string_view text);
  void titleLine(std::string_view title, Style style);
  void wrapped(std::string_view text, std::size_t first_indent, std::size_t indent);
  std::string tableLine(const Table& table, const std::vector<std::size_t>& shown,
                        const std::vector<std::size_t>& widths, const std::vector<std::string>& texts) const;

  TextOptions options_;
  std::string out_;
  std::size_t indent_ = 0;
};

}  // namespace pitwall::emit
