// Chrome JSON that `pitwall export` wrote: the events carry what the trace held, and records of metadata the
// rest (docs/export.md), so that the trace comes back as it was.
#pragma once

#include <string>

#include "db/import/adoption.h"
#include "db/import/chrome_event.h"

namespace pitwall::import {

class OwnJson {
 public:
  explicit OwnJson(Builder& builder) : builder_(builder), adoption_(builder) {}

  // Whether the record that such a file begins with was met; then every event is for take().
  bool seen() const { return seen_; }
  // Takes the event if it is a record of such a file or the file is one.
  bool take(const ChromeEvent& event);
  void end() { adoption_.end(); }

 private:
  void record(std::string_view table, const ChromeEvent& event);
  bool dimension(std::string_view table, const ChromeEvent& event);
  void facts(std::string_view table, const ChromeEvent& event);
  void range(const ChromeEvent& event);
  void dependency(const ChromeEvent& event);

  Builder& builder_;
  Adoption adoption_;
  bool seen_ = false;
  std::string name_, args_;  // scratch
};

}  // namespace pitwall::import
