// Lines that NCCL writes with NCCL_DEBUG=INFO, mixed with other output: what NCCL found and chose, as facts;
// the calls of its collectives, in their order, since they carry no times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"

namespace pitwall::import {

class NcclLog {
 public:
  explicit NcclLog(Builder& builder) : builder_(builder) {}

  // Reads the line if NCCL wrote it. `now` is the log's current time, at which calls are placed.
  bool line(std::string_view text, std::int64_t now_ns);
  bool found() const { return lines_ > 0; }
  const std::string& version() const { return version_; }
  // Writes the facts that are sums over the lines.
  void end();

 private:
  void info(ProcessRef process, std::string_view message, std::int64_t now_ns);
  void initialised(ProcessRef process, std::string_view message, std::int64_t now_ns);
  bool call(ProcessRef process, std::string_view message, std::int64_t now_ns);
  void fact(std::string_view key, std::string_view value);

  Builder& builder_;
  std::int64_t lines_ = 0;
  std::int64_t warnings_ = 0;
  std::string version_;
  std::map<std::string, std::int64_t> transports_;
  std::map<std::string, std::string, std::less<>> facts_;
};

}  // namespace pitwall::import
