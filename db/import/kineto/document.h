// Members of a PyTorch profile besides its events: devices, ranks, versions, the time base.
#pragma once

#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/input/json.h"

namespace pitwall::import {

class KinetoDocument {
 public:
  explicit KinetoDocument(Builder& builder) : builder_(builder) {}

  // Whether it is one of PyTorch's members.
  bool member(std::string_view key, const JsonValue& value);

  bool seen() const { return seen_; }  // there was one with a usable value
  bool hasBaseTime() const { return has_base_; }
  std::string version() const;

 private:
  void deviceProperties(std::string_view array);
  void oneDevice(std::string_view object);
  void distributedInfo(std::string_view object);

  Builder& builder_;
  bool seen_ = false;
  bool has_base_ = false;
  std::string schema_;
  std::string cuda_;
};

}  // namespace pitwall::import
