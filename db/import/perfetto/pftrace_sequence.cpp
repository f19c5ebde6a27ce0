#include "db/import/perfetto/pftrace_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/import/input/protobuf.h"
#include "db/import/input/text.h"
#include "db/import/perfetto/pftrace_fields.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestText = 8192;

namespace interned {
constexpr std::uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3, kAnnotationTexts = 29;
}

namespace annotation {
constexpr std::uint32_t kNameId = 1, kBool = 2, kUnsigned = 3, kSigned = 4, kReal = 5, kText = 6,
                        kPointer = 7, kJson = 9, kName = 10, kMembers = 11, kElements = 12, kTextId = 17;
}

}  // namespace

void PftraceSequence::intern(std::string_view message) {
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    Texts* const texts = field.number == interned::kCategories        ? &categories_
                         : field.number == interned::kNames           ? &names_
                         : field.number == interned::kAnnotationNames ? &annotation_names_
                         : field.number == interned::kAnnotationTexts ? &annotation_texts_
                                                                      : nullptr;
    if (texts == nullptr || !field.is_bytes) continue;
    std::uint64_t id = 0;
    std::string_view text;
    ProtoMessage entry(field.bytes);
    for (ProtoField member; entry.next(member);) {
      if (member.number == 1 && !member.is_bytes) id = member.value;
      if (member.number == 2 && member.is_bytes) text = member.bytes.substr(0, kLongestText);
    }
    (*texts)[id] = std::string(text);
    interned_bytes_ += text.size() + 64;
  }
}

void PftraceSequence::defaults(std::string_view message) {
  default_clock = 0;
  has_default_track = false;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == packet::kClock && !field.is_bytes) default_clock = field.value;
    if (field.number != packet::kTrackEvent || !field.is_bytes) continue;
    ProtoMessage event(field.bytes);
    for (ProtoField member; event.next(member);) {
      if (member.number != track_event::kTrack || member.is_bytes) continue;
      default_track = member.value;
      has_default_track = true;
    }
  }
}

void PftraceSequence::clear() {
  for (Texts* texts : {&categories_, &names_, &annotation_names_, &annotation_texts_}) texts->clear();
  interned_bytes_ = 0;
  cleared = true;
  default_clock = 0;
  has_default_track = false;
  thread_time_us.reset();
}

std::string PftraceAnnotations::keyOf(std::string_view message) const {
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == annotation::kName && field.is_bytes) return std::string(field.bytes.substr(0, 256));
    if (field.number != annotation::kNameId || field.is_bytes) continue;
    const std::string* const name = sequence_.annotationName(field.value);
    return name != nullptr ? name->substr(0, 256) : fmt::format("name {}", field.value);
  }
  return "value";
}

void PftraceAnnotations::value(std::string_view message, int depth, std::string& out) const {
  std::string members;
  char open = '\0';
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field) && out.size() + members.size() <= kLongest;) {
    switch (field.number) {
      case annotation::kBool: out += field.value != 0 ? "true" : "false"; return;
      case annotation::kUnsigned:
      case annotation::kPointer: out += std::to_string(field.value); return;
      case annotation::kSigned: out += std::to_string(field.integer()); return;
      case annotation::kReal:
        out += std::isfinite(field.real()) ? fmt::format("{}", field.real()) : "null";
        return;
      case annotation::kJson:  // as text: it may be no valid JSON
      case annotation::kText: out += cleanJsonString(field.bytes.substr(0, kLongest)); return;
      case annotation::kTextId: {
        const std::string* const text = sequence_.annotationText(field.value);
        out += text != nullptr ? cleanJsonString(text->substr(0, kLongest)) : "null";
        return;
      }
      case annotation::kMembers:
      case annotation::kElements:
        if (!field.is_bytes || depth >= kDeepest) break;
        open = field.number == annotation::kMembers ? '{' : '[';
        if (!members.empty()) members += ',';
        if (open == '{') members += cleanJsonString(keyOf(field.bytes)) + ":";
        value(field.bytes, depth + 1, members);
        break;
      default: break;
    }
  }
  if (open == '\0') {
    out += "null";
  } else {
    out += open + members + (open == '{' ? '}' : ']');
  }
}

void PftraceAnnotations::add(std::string_view message) {
  if (members_.size() > kLongest) return;
  if (!members_.empty()) members_ += ',';
  members_ += cleanJsonString(keyOf(message)) + ":";
  value(message, 0, members_);
}

void PftraceAnnotations::text(std::string_view key, std::string_view value) {
  members_ +=
      fmt::format("{}{}:{}", members_.empty() ? "" : ",", cleanJsonString(key), cleanJsonString(value));
}

std::optional<std::string> PftraceAnnotations::object() const {
  if (members_.empty()) return std::string();
  if (members_.size() > kLongest) return std::nullopt;
  return "{" + members_ + "}";
}

}  // namespace pitwall::import
