#include "runtime/profiler/nvtx/callbacks.h"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <exception>
#include <string>

#include "runtime/profiler/nvtx/wide_text.h"

namespace pitwall::nvtx {

namespace {

std::atomic<Recorder*> g_active{nullptr};
std::atomic<void (*)()> g_revive{nullptr};

std::string& domainsToRecord() {
  static auto* const text = new std::string;
  return *text;
}

Recorder* reviveOnce() {
  if (void (*const revive)() = g_revive.exchange(nullptr)) revive();
  return g_active.load(std::memory_order_acquire);
}

// Runs `call` on the recorder; its exceptions (out of memory) do not reach the program.
template <class Call, class Value>
Value with(Value otherwise, Call call) noexcept {
  Recorder* recorder = g_active.load(std::memory_order_acquire);
  if (recorder == nullptr) [[unlikely]]
    recorder = reviveOnce();
  if (recorder == nullptr) return otherwise;
  try {
    return call(*recorder);
  } catch (const std::exception&) {
    return otherwise;
  }
}

template <class Call>
void with(Call call) noexcept {
  (void)with(0, [&](Recorder& recorder) { return call(recorder), 0; });
}

// Handles are valid even without a recording.
template <class Call>
auto named(Call call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception&) {
    return {};
  }
}

Domain& domainOf(void* handle) {
  return handle == nullptr ? processNames().defaultDomain() : *static_cast<Domain*>(handle);
}

// The operating system's id of a pthread_t, which its CPU clock id contains.
std::int64_t tidOf(pthread_t thread) {
  clockid_t clock{};
  if (pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return static_cast<std::int64_t>(~(clock >> 3));
}

using abi::EventAttributes;

// --- module core -----------------------------------------------------------------------------------------

void markEx(const EventAttributes* a) {
  if (a != nullptr) with([a](Recorder& r) { r.mark(r.names().defaultDomain(), *a); });
}
void markA(const char* text) {
  with([text](Recorder& r) { r.mark(r.names().defaultDomain(), text); });
}
void markW(const wchar_t* text) {
  with([text](Recorder& r) { r.mark(r.names().defaultDomain(), utf8(text).c_str()); });
}
std::uint64_t rangeStartEx(const EventAttributes* a) {
  if (a == nullptr) return 0;
  return with(std::uint64_t{0}, [a](Recorder& r) { return r.start(r.names().defaultDomain(), *a); });
}
std::uint64_t rangeStartA(const char* text) {
  return with(std::uint64_t{0}, [text](Recorder& r) { return r.start(r.names().defaultDomain(), text); });
}
std::uint64_t rangeStartW(const wchar_t* text) {
  return with(std::uint64_t{0},
              [text](Recorder& r) { return r.start(r.names().defaultDomain(), utf8(text).c_str()); });
}
void rangeEnd(std::uint64_t id) {
  with([id](Recorder& r) { r.end(id); });
}
int rangePushEx(const EventAttributes* a) {
  if (a == nullptr) return -1;
  return with(-1, [a](Recorder& r) { return r.push(r.names().defaultDomain(), *a); });
}
int rangePushA(const char* text) {
  return with(-1, [text](Recorder& r) { return r.push(r.names().defaultDomain(), text); });
}
int rangePushW(const wchar_t* text) {
  return with(-1, [text](Recorder& r) { return r.push(r.names().defaultDomain(), utf8(text).c_str()); });
}
int rangePop() {
  return with(-1, [](Recorder& r) { return r.pop(r.names().defaultDomain()); });
}
void nameCategoryA(std::uint32_t category, const char* name) {
  if (name != nullptr)
    named([=] { return processNames().nameCategory(domainOf(nullptr), category, name), 0; });
}
void nameCategoryW(std::uint32_t category, const wchar_t* name) {
  named([=] { return processNames().nameCategory(domainOf(nullptr), category, utf8(name)), 0; });
}
void nameOsThreadA(std::uint32_t tid, const char* name) {
  if (name != nullptr) with([=](Recorder& r) { r.nameThread(tid, name); });
}
void nameOsThreadW(std::uint32_t tid, const wchar_t* name) {
  with([=](Recorder& r) { r.nameThread(tid, utf8(name)); });
}

// --- module core2: domains ---------------------------------------------------------------------------------

void domainMarkEx(void* domain, const EventAttributes* a) {
  if (a != nullptr) with([=](Recorder& r) { r.mark(domainOf(domain), *a); });
}
std::uint64_t domainRangeStartEx(void* domain, const EventAttributes* a) {
  if (a == nullptr) return 0;
  return with(std::uint64_t{0}, [=](Recorder& r) { return r.start(domainOf(domain), *a); });
}
void domainRangeEnd(void*, std::uint64_t id) { rangeEnd(id); }
int domainRangePushEx(void* domain, const EventAttributes* a) {
  if (a == nullptr) return -1;
  return with(-1, [=](Recorder& r) { return r.push(domainOf(domain), *a); });
}
int domainRangePop(void* domain) {
  return with(-1, [=](Recorder& r) { return r.pop(domainOf(domain)); });
}
const void* domainResourceCreate(void*, const abi::ResourceAttributes* a) {
  if (a == nullptr) return nullptr;
  const std::string name = a->message_type == abi::kAscii && a->message.ascii != nullptr ? a->message.ascii
                           : a->message_type == abi::kUnicode ? utf8(a->message.unicode)
                           : a->message_type == abi::kRegistered && a->message.registered != nullptr
                               ? static_cast<const RegisteredString*>(a->message.registered)->text
                               : "";
  std::int64_t tid = 0;
  if (a->type == abi::kNativeThread) tid = static_cast<std::int64_t>(a->identifier.number);
  if (a->type == abi::kPosixThread) tid = tidOf(static_cast<pthread_t>(a->identifier.number));
  if (tid != 0 && !name.empty()) with([&](Recorder& r) { r.nameThread(tid, name); });
  return a->identifier.pointer;
}
void domainResourceDestroy(const void*) {}
void domainNameCategoryA(void* domain, std::uint32_t category, const char* name) {
  if (name != nullptr)
    named([=] { return processNames().nameCategory(domainOf(domain), category, name), 0; });
}
void domainNameCategoryW(void* domain, std::uint32_t category, const wchar_t* name) {
  named([=] { return processNames().nameCategory(domainOf(domain), category, utf8(name)), 0; });
}
void* domainRegisterStringA(void* domain, const char* text) {
  return named([=]() -> void* {
    return &processNames().registerString(domainOf(domain), text == nullptr ? "" : text);
  });
}
void* domainRegisterStringW(void* domain, const wchar_t* text) {
  return named([=]() -> void* { return &processNames().registerString(domainOf(domain), utf8(text)); });
}
void* domainCreateA(const char* name) {
  return named([=]() -> void* { return &processNames().domain(name == nullptr ? "" : name); });
}
void* domainCreateW(const wchar_t* name) {
  return named([=]() -> void* { return &processNames().domain(utf8(name)); });
}
void domainDestroy(void*) {}  // its ranges may still end, and its name is still needed

// --- extension: payloads -----------------------------------------------------------------------------------

std::span<const abi::PayloadData> spanOf(const abi::PayloadData* data, std::size_t count) {
  return data == nullptr ? std::span<const abi::PayloadData>{} : std::span(data, count);
}

std::uint64_t schemaRegister(void*, const abi::SchemaAttributes* a) {
  return named([=] { return a == nullptr ? 0 : processSchemas().add(*a); });
}
std::uint64_t enumRegister(void*, const abi::EnumAttributes* a) {
  return named([=] { return a == nullptr ? 0 : processSchemas().add(*a); });
}
void markPayload(void* domain, const abi::PayloadData* data, std::size_t count) {
  with([=](Recorder& r) { r.mark(domainOf(domain), spanOf(data, count)); });
}
int rangePushPayload(void* domain, const abi::PayloadData* data, std::size_t count) {
  return with(-1, [=](Recorder& r) { return r.push(domainOf(domain), spanOf(data, count)); });
}
int rangePopPayload(void* domain, const abi::PayloadData* data, std::size_t count) {
  return with(-1, [=](Recorder& r) { return r.pop(domainOf(domain), spanOf(data, count)); });
}
std::uint64_t rangeStartPayload(void* domain, const abi::PayloadData* data, std::size_t count) {
  return with(std::uint64_t{0}, [=](Recorder& r) { return r.start(domainOf(domain), spanOf(data, count)); });
}
void rangeEndPayload(void*, std::uint64_t id, const abi::PayloadData*, std::size_t) { rangeEnd(id); }
std::uint8_t domainIsEnabled(void* domain) {
  return with(std::uint8_t{0}, [=](Recorder& r) -> std::uint8_t {
    return r.isRecording() && domainOf(domain).recorded ? 1 : 0;
  });
}

// --- tables ------------------------------------------------------------------------------------------------

struct Slot {
  std::uint32_t id;
  abi::Function function;
};

template <class F>
abi::Function erased(F* function) {
  return reinterpret_cast<abi::Function>(function);
}

bool fill(const abi::CallbacksTable& callbacks, std::uint32_t module, std::span<const Slot> slots) {
  abi::FunctionTable table = nullptr;
  unsigned count = 0;
  if (callbacks.getModule(module, &table, &count) == 0 || table == nullptr) return false;
  for (const Slot& slot : slots) {
    if (slot.id < count && table[slot.id] != nullptr) *table[slot.id] = slot.function;
  }
  return true;
}

}  // namespace

void recordOnly(std::string_view domains) { domainsToRecord() = domains; }

Names& processNames() {
  static auto* const names = new Names(domainsToRecord());
  return *names;
}

Schemas& processSchemas() {
  static auto* const schemas = new Schemas;
  return *schemas;
}

void setActive(Recorder* recorder) { g_active.store(recorder, std::memory_order_release); }
Recorder* active() { return g_active.load(std::memory_order_acquire); }
void setRevive(void (*revive)()) { g_revive.store(revive); }

bool install(abi::GetExportTable get) {
  using namespace abi;
  const auto* callbacks = static_cast<const CallbacksTable*>(get(kCallbacksTable));
  if (callbacks == nullptr || callbacks->size < sizeof(CallbacksTable)) return false;
  const Slot core[] = {
      {kMarkEx, erased(markEx)},
      {kMarkA, erased(markA)},
      {kMarkW, erased(markW)},
      {kRangeStartEx, erased(rangeStartEx)},
      {kRangeStartA, erased(rangeStartA)},
      {kRangeStartW, erased(rangeStartW)},
      {kRangeEnd, erased(rangeEnd)},
      {kRangePushEx, erased(rangePushEx)},
      {kRangePushA, erased(rangePushA)},
      {kRangePushW, erased(rangePushW)},
      {kRangePop, erased(rangePop)},
      {kNameCategoryA, erased(nameCategoryA)},
      {kNameCategoryW, erased(nameCategoryW)},
      {kNameOsThreadA, erased(nameOsThreadA)},
      {kNameOsThreadW, erased(nameOsThreadW)},
  };
  const Slot core2[] = {
      {kDomainMarkEx, erased(domainMarkEx)},
      {kDomainRangeStartEx, erased(domainRangeStartEx)},
      {kDomainRangeEnd, erased(domainRangeEnd)},
      {kDomainRangePushEx, erased(domainRangePushEx)},
      {kDomainRangePop, erased(domainRangePop)},
      {kDomainResourceCreate, erased(domainResourceCreate)},
      {kDomainResourceDestroy, erased(domainResourceDestroy)},
      {kDomainNameCategoryA, erased(domainNameCategoryA)},
      {kDomainNameCategoryW, erased(domainNameCategoryW)},
      {kDomainRegisterStringA, erased(domainRegisterStringA)},
      {kDomainRegisterStringW, erased(domainRegisterStringW)},
      {kDomainCreateA, erased(domainCreateA)},
      {kDomainCreateW, erased(domainCreateW)},
      {kDomainDestroy, erased(domainDestroy)},
  };
  const bool has_core = fill(*callbacks, kCore, core);
  const bool has_core2 = fill(*callbacks, kCore2, core2);
  return has_core || has_core2;
}

bool install(abi::ExtensionModule& module) {
  using namespace abi;
  if (module.module != kPayloadModule || module.segment_count == 0 || module.segments == nullptr)
    return false;
  const Slot slots[] = {
      {kSchemaRegister, erased(schemaRegister)},   {kEnumRegister, erased(enumRegister)},
      {kMarkPayload, erased(markPayload)},         {kRangePushPayload, erased(rangePushPayload)},
      {kRangePopPayload, erased(rangePopPayload)}, {kRangeStartPayload, erased(rangeStartPayload)},
      {kRangeEndPayload, erased(rangeEndPayload)}, {kDomainIsEnabled, erased(domainIsEnabled)},
  };
  const ExtensionSegment& segment = module.segments[0];
  for (const Slot& slot : slots) {
    if (slot.id < segment.slot_count) segment.slots[slot.id] = reinterpret_cast<std::intptr_t>(slot.function);
  }
  return true;
}

}  // namespace pitwall::nvtx
