// The arguments of events of unknown tools, kept as they are where they are short and few.
#pragma once

#include <cstddef>
#include <optional>

#include "db/import/build/builder.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/input/recent_texts.h"

namespace pitwall::import {

class ForeignArgs {
 public:
  explicit ForeignArgs(Builder& builder) : builder_(builder) {}

  // The text of the event's arguments; nullopt where they are not kept.
  std::optional<StringId> keep(const ChromeEvent& event);

 private:
  Builder& builder_;
  RecentTexts<StringId> known_;
  std::size_t distinct_ = 0;
};

}  // namespace pitwall::import
