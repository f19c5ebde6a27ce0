#include "runtime/profiler/nvtx/recorder.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "db/json_string.h"
#include "runtime/profiler/nvtx/text_hash.h"
#include "runtime/profiler/nvtx/wide_text.h"

namespace pitwall::nvtx {

namespace {

std::size_t slotOf(const void* domain, std::uint64_t key) {
  key ^= reinterpret_cast<std::uintptr_t>(domain);
  return (key * 0x9E3779B97F4A7C15U) >> (64U - std::bit_width(ThreadState::kEntries - 1));
}

std::int64_t integerOf(const abi::EventAttributes& attributes) {
  switch (attributes.payload_type) {
    case abi::kUint64:
    case abi::kInt64: return attributes.payload.i64;
    case abi::kUint32: return attributes.payload.u32;
    case abi::kInt32: return attributes.payload.i32;
    default: return 0;
  }
}

std::string realMember(double value) {
  return "\"payload\":" +
         (std::isfinite(value) ? fmt::format("{}", value) : jsonString(fmt::format("{}", value)));
}

}  // namespace

Recorder::Recorder(Profiler& profiler, Names& names, Schemas& schemas)
    : profiler_(profiler), names_(names), schemas_(schemas) {
  names_.use(profiler);
  profiler_.addSource(*this);
}

Recorder::~Recorder() { profiler_.removeSource(*this); }

// --- names -----------------------------------------------------------------------------------------------

// Split into functions, so that each uses only the stack of its case.
SiteId Recorder::siteOf(Domain& domain, const char* text) {
  if (text == nullptr) text = "";
  ThreadState* const state = t_state;
  if (state == nullptr || state->generation != names_.generation()) [[unlikely]]
    return siteOfFirst(domain, text);
  SeenAddress& here = state->by_address[slotOf(&domain, reinterpret_cast<std::uintptr_t>(text))];
  if (here.text != nullptr && here.address == text && here.domain == &domain) [[likely]]
    return siteAtAddress(here);
  return siteOfContent(*state, domain, text);
}

// For a thread that has no state yet, or that is ending.
SiteId Recorder::siteOfFirst(Domain& domain, const char* text) {
  ThreadState* const state = threadState(names_.generation());
  return state == nullptr ? names_.site({&domain, 0, 0, text, {}}) : siteOfContent(*state, domain, text);
}

// So far this address has had only one text.
SiteId Recorder::siteAtAddress(SeenAddress& here) {
  if (std::strcmp(here.text, here.address) == 0) [[likely]]
    return here.site;
  here.text = nullptr;
  return siteOfContent(*t_state, *here.domain, here.address);
}

SiteId Recorder::siteOfContent(ThreadState& state, const Domain& domain, const char* text) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&domain);
  if (!hashWithinPage(text, hash)) [[unlikely]]
    return siteOfNew(state, domain, text);
  const SeenText& same = state.by_content[hash % ThreadState::kEntries];
  if (same.domain != &domain || same.hash != hash) [[unlikely]]
    return siteOfNew(state, domain, text);
  return same.site;
}

// A new text, or one that crosses a page boundary.
SiteId Recorder::siteOfNew(ThreadState& state, const Domain& domain, const char* text) {
  const std::uint64_t hash = hashAnywhere(text, reinterpret_cast<std::uintptr_t>(&domain));
  SeenText& same = state.by_content[hash % ThreadState::kEntries];
  if (same.domain == &domain && same.hash == hash) return same.site;
  same = {&domain, hash, names_.site({&domain, 0, 0, text, {}})};
  state.by_address[slotOf(&domain, reinterpret_cast<std::uintptr_t>(text))] = {&domain, text,
                                                                               names_.keep(text), same.site};
  return same.site;
}

SiteId Recorder::siteOf(Domain& domain, const RegisteredString& text) {
  const std::uint64_t known = text.site.load(std::memory_order_relaxed);
  if (known >> 32U == names_.generation() && text.domain == &domain) [[likely]]
    return SiteId{static_cast<std::uint32_t>(known)};
  return siteOfNew(domain, text);
}

SiteId Recorder::siteOfNew(Domain& domain, const RegisteredString& text) {
  const std::uint64_t generation = names_.generation();
  const SiteId site = names_.site({&domain, 0, 0, text.text, {}});
  if (text.domain == &domain) text.site.store(generation << 32U | site.value, std::memory_order_relaxed);
  return site;
}

Recorder::Found Recorder::find(Domain& domain, const abi::EventAttributes& attributes) {
  const std::int32_t payload = attributes.payload_type;
  const bool is_plain = attributes.category == 0 && attributes.color_type != abi::kColorArgb &&
                        payload != abi::kExtendedPayload && payload != abi::kDouble && payload != abi::kFloat;
  if (is_plain && attributes.message_type == abi::kRegistered && attributes.message.registered != nullptr)
    return {siteOf(domain, *static_cast<const RegisteredString*>(attributes.message.registered)),
            integerOf(attributes)};
  if (is_plain && attributes.message_type == abi::kAscii)
    return {siteOf(domain, attributes.message.ascii), integerOf(attributes)};
  return findWithAttributes(domain, attributes);
}

Recorder::Found Recorder::findWithAttributes(Domain& domain, const abi::EventAttributes& attributes) {
  const auto* registered = attributes.message_type == abi::kRegistered
                               ? static_cast<const RegisteredString*>(attributes.message.registered)
                               : nullptr;
  const std::uint32_t color = attributes.color_type == abi::kColorArgb ? attributes.color : 0;
  const std::int32_t payload = attributes.payload_type;
  Found found{{}, integerOf(attributes)};
  std::string text, members;
  if (registered != nullptr) text = registered->text;
  if (attributes.message_type == abi::kAscii && attributes.message.ascii != nullptr)
    text = attributes.message.ascii;
  if (attributes.message_type == abi::kUnicode) text = utf8(attributes.message.unicode);
  if (payload == abi::kDouble) members = realMember(attributes.payload.f64);
  if (payload == abi::kFloat) members = realMember(attributes.payload.f32);
  if (payload == abi::kExtendedPayload && attributes.reserved0 > 0) {
    const auto* data = reinterpret_cast<const abi::PayloadData*>(attributes.payload.u64);
    DecodedPayload decoded = schemas_.decode({data, static_cast<std::size_t>(attributes.reserved0)});
    members = std::move(decoded.members);
    found.value = decoded.value.value_or(0);
    if (text.empty()) text = std::move(decoded.message);
  }
  found.site = names_.site({&domain, attributes.category, color, text, members});
  return found;
}

Recorder::Found Recorder::find(Domain& domain, std::span<const abi::PayloadData> payload) {
  const DecodedPayload decoded = schemas_.decode(payload);
  return {names_.site({&domain, 0, 0, decoded.message, decoded.members}), decoded.value.value_or(0)};
}

// --- push and pop ------------------------------------------------------------------------------------------

int Recorder::open(Domain& domain, SiteId site, std::int64_t value) {
  ThreadState* const state = threadState(names_.generation());
  if (state == nullptr) return -1;
  const Ticks started = profiler_.enter(site);
  std::int32_t level = 0;
  for (std::size_t i = state->open.size(); i-- > 0;) {
    if (state->open[i].domain != &domain) continue;
    level = state->open[i].level + 1;
    break;
  }
  state->open.push_back({&domain, started, value, site, level});
  return level;
}

int Recorder::push(Domain& domain, const char* text) {
  if (!domain.recorded) return 0;
  return open(domain, siteOf(domain, text), 0);
}

int Recorder::push(Domain& domain, const abi::EventAttributes& attributes) {
  if (!domain.recorded) return 0;
  const Found found = find(domain, attributes);
  return open(domain, found.site, found.value);
}

int Recorder::push(Domain& domain, std::span<const abi::PayloadData> payload) {
  if (!domain.recorded) return 0;
  const Found found = find(domain, payload);
  return open(domain, found.site, found.value);
}

int Recorder::pop(Domain& domain) {
  if (!domain.recorded) return 0;
  ThreadState* const state = threadState(names_.generation());
  if (state == nullptr || state->open.empty() || state->open.back().domain != &domain) [[unlikely]]
    return popOuter(state, domain, {});
  // Field by field: copying the whole struct would stall on the stores of the push.
  const OpenRange& range = state->open.back();
  const std::int32_t level = range.level;
  if (range.started != 0) profiler_.leave(range.site, range.started, range.value);
  state->open.pop_back();
  return level;
}

int Recorder::pop(Domain& domain, std::span<const abi::PayloadData> payload) {
  if (!domain.recorded) return 0;
  return popOuter(threadState(names_.generation()), domain, payload);
}

// The innermost range of the domain, which need not be that of the thread.
int Recorder::popOuter(ThreadState* state, Domain& domain, std::span<const abi::PayloadData> payload) {
  if (state == nullptr) return -1;
  std::size_t at = state->open.size();
  while (at > 0 && state->open[at - 1].domain != &domain) --at;
  if (at-- == 0) {
    unbalanced_.fetch_add(1, std::memory_order_relaxed);
    return -1;
  }
  OpenRange range = state->open[at];
  if (!payload.empty()) {
    const DecodedPayload decoded = schemas_.decode(payload);
    range.site = names_.site({&domain, 0, 0, names_.textOf(range.site).name, decoded.members});
    range.value = decoded.value.value_or(range.value);
  }
  if (range.started != 0) profiler_.leave(range.site, range.started, range.value);
  state->open.erase(state->open.begin() + static_cast<std::ptrdiff_t>(at));
  return range.level;
}

void Recorder::closeThread() {
  ThreadState* const state = threadState(names_.generation());
  if (state == nullptr) return;
  for (; !state->open.empty(); state->open.pop_back()) {
    const OpenRange& range = state->open.back();
    if (range.started != 0) profiler_.leave(range.site, range.started, range.value);
  }
}

// --- marks -------------------------------------------------------------------------------------------------

void Recorder::mark(Domain& domain, const char* text) {
  if (domain.recorded) profiler_.instant(siteOf(domain, text));
}

void Recorder::mark(Domain& domain, const abi::EventAttributes& attributes) {
  if (!domain.recorded) return;
  const Found found = find(domain, attributes);
  profiler_.instant(found.site, found.value);
}

void Recorder::mark(Domain& domain, std::span<const abi::PayloadData> payload) {
  if (!domain.recorded) return;
  const Found found = find(domain, payload);
  profiler_.instant(found.site, found.value);
}

}  // namespace pitwall::nvtx
