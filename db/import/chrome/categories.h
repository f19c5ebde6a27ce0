// The categories of events (cat), in which the profilers of PyTorch and MXNet state the kinds of events.
#pragma once

#include <cstdint>

#include "db/import/build/builder.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/input/recent_texts.h"
#include "db/import/kineto/kineto.h"
#include "db/import/mxnet/mxnet.h"

namespace pitwall::import {

// The meaning of a category's text, determined once.
struct Category {
  std::int64_t* count = nullptr;
  KinetoRole kineto = KinetoRole::none;
  MxNetRole mxnet = MxNetRole::none;
  StringId args;  // {"category":...}, where the kind of event does not imply it
};

class Categories {
 public:
  explicit Categories(Builder& builder) : builder_(builder) {}

  // The event's category, counted. The reference is valid until the next call.
  const Category& of(const ChromeEvent& event);

 private:
  Builder& builder_;
  RecentTexts<Category> known_;
};

}  // namespace pitwall::import
