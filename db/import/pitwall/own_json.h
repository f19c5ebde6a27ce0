// Chrome JSON that `pitwall export` wrote: the events carry the trace's events, and metadata records the rest
// (docs/export.md), so that the original trace is restored.
#pragma once

#include <string>

#include "db/import/chrome/chrome_event.h"
#include "db/import/pitwall/row_import.h"

namespace pitwall::import {

class OwnJson {
 public:
  explicit OwnJson(Builder& builder) : builder_(builder), row_import_(builder) {}

  // Whether the first record of such a file was read; then every event goes to take().
  bool seen() const { return seen_; }
  // Reads the event if it is a record of such a file or the file is one.
  bool take(const ChromeEvent& event);
  void end() { row_import_.end(); }

 private:
  void record(std::string_view table, const ChromeEvent& event);
  bool dimension(std::string_view table, const ChromeEvent& event);
  void facts(std::string_view table, const ChromeEvent& event);
  void range(const ChromeEvent& event);
  void dependency(const ChromeEvent& event);

  Builder& builder_;
  RowImport row_import_;
  bool seen_ = false;
  std::string name_, args_;  // scratch
};

}  // namespace pitwall::import
