// Reads a ring file (db/ring_format.h); its contents are checked, not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/result.h"
#include "db/ring_decoder.h"
#include "db/ring_format.h"

namespace pitwall::recovery {

class RingFileReader : public ring::NameSource {
 public:
  // Maps `size` bytes of the file. Errors: corruptTrace, versionMismatch, io; each names the remedy.
  static Result<std::unique_ptr<RingFileReader>> open(int file, std::size_t size, const std::string& path);
  ~RingFileReader() override;
  RingFileReader(const RingFileReader&) = delete;
  RingFileReader& operator=(const RingFileReader&) = delete;

  const ring::FileHeader& header() const { return *reinterpret_cast<const ring::FileHeader*>(memory_); }
  ring::ClockMap clock() const;
  // Rings in use that are completely within the file.
  const std::vector<const ring::RingHeader*>& rings() const { return rings_; }
  bool isCutOff() const { return cut_off_; }  // extents are missing at its end

  ring::SiteFacts site(std::uint32_t id) const override;
  OperatorFacts facts(std::uint32_t id) const override;

 private:
  RingFileReader(const char* memory, std::size_t size) : memory_(memory), size_(size) {}
  Status checkHeader(const std::string& path) const;
  void walkExtents();
  void readNames(const ring::NamesHeader& names);
  void readName(const ring::NameEntry& entry, const char* at, const char* end);

  const char* const memory_;
  const std::size_t size_;
  bool cut_off_ = false;
  std::vector<const ring::RingHeader*> rings_;
  std::unordered_map<std::uint32_t, ring::SiteFacts> sites_;
  std::unordered_map<std::uint32_t, OperatorFacts> facts_;
};

}  // namespace pitwall::recovery
