// JSON (RFC 8259): valid for any input; text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>
#include <vector>

#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

class JsonEmitter : public Emitter {
 public:
  void beginObject(std::string_view key, std::string_view title, Style style) override;
  void endObject() override;
  void beginList(std::string_view key, std::string_view title) override;
  void endList() override;
  void field(std::string_view key, std::string_view label, const Cell& cell) override;
  void table(std::string_view key, std::string_view label, const Table& table) override;
  void code(std::string_view label, std::string_view text) override;
  void heading(std::string_view title) override;
  void paragraph(std::string_view text) override;

  // Everything so far, with a newline at its end.
  std::string take() &&;

 private:
  struct Level {
    bool is_list;
    bool is_empty;
  };
  void open(std::string_view key, char bracket, bool is_list);
  void close(char bracket);
  void prefix(std::string_view key);  // comma, newline, indent, key
  void value(const Json& json);

  std::string out_;
  std::vector<Level> levels_;
};

}  // namespace pitwall::emit
