// The header of an image's record: flag, label, id, id2; flag counts the labels that follow, 0 for the one within.
#include <fmt/format.h>

#include <cstring>

#include "runtime/record_file.h"

namespace pitwall::data {
namespace {

struct StoredHeader {
  std::uint32_t flag;
  float label;
  std::uint64_t id, id2;
};
static_assert(sizeof(StoredHeader) == 24);

}  // namespace

void appendImageHeader(const ImageHeader& header, std::vector<std::uint8_t>& to) {
  const bool within = header.labels.size() <= 1;
  const StoredHeader stored{within ? 0 : static_cast<std::uint32_t>(header.labels.size()),
                            within && !header.labels.empty() ? header.labels[0] : 0, header.id, header.id2};
  const auto append = [&to](const void* bytes, std::size_t size) {
    const auto* const first = static_cast<const std::uint8_t*>(bytes);
    to.insert(to.end(), first, first + size);
  };
  append(&stored, sizeof stored);
  if (!within) append(header.labels.data(), header.labels.size() * sizeof(float));
}

Status takeImageHeader(std::span<const std::uint8_t>& record, ImageHeader& header) {
  StoredHeader stored{};
  if (record.size() < sizeof stored)
    return fail(ErrorCode::invalidInput,
                fmt::format("the record has {} bytes: too short for the header of an image", record.size()));
  std::memcpy(&stored, record.data(), sizeof stored);
  const std::size_t left = record.size() - sizeof stored;
  if (stored.flag > left / sizeof(float))
    return fail(ErrorCode::invalidInput,
                fmt::format("{} labels are announced, but the record has {} bytes after its header",
                            stored.flag, left));
  record = record.subspan(sizeof stored);
  header.id = stored.id;
  header.id2 = stored.id2;
  header.labels.assign(1, stored.label);
  if (stored.flag == 0) return {};
  header.labels.resize(stored.flag);
  std::memcpy(header.labels.data(), record.data(), stored.flag * sizeof(float));
  record = record.subspan(stored.flag * sizeof(float));
  return {};
}

}  // namespace pitwall::data
