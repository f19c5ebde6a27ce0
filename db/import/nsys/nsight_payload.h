// The payload of an NVTX range of an Nsight Systems export: a number, JSON, a category.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/nsys/nsight_tables.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

class NsightPayload {
 public:
  // Columns of the range table, to be selected after `first` others.
  static constexpr std::array<std::string_view, 10> kColumns = {
      "uint64Value", "int64Value", "uint32Value", "int32Value", "doubleValue",
      "floatValue",  "jsonText",   "jsonTextId",  "binaryData", "category"};

  NsightPayload(Builder& builder, NsightNames& names) : builder_(builder), names_(names) {}

  // Puts an integer into event.value and appends the rest to `members` of a JSON object.
  void read(const store::ForeignRow& row, std::size_t first, Event& event, std::string& members);

 private:
  void json(std::string_view text, std::string& members);

  Builder& builder_;
  NsightNames& names_;
};

}  // namespace pitwall::import
