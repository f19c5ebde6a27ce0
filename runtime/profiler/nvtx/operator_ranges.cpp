#include "runtime/profiler/nvtx/operator_ranges.h"

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/mutex.h"

namespace pitwall::nvtx {

struct OperatorRanges::Tool {
  nvtxDomainHandle_t domain = nullptr;
  Mutex mutex;
  struct Known {
    nvtxStringHandle_t name = nullptr;
    std::uint32_t category = 0;
    std::int64_t flop = 0;
  };
  std::unordered_map<std::uint32_t, Known> operators PITWALL_GUARDED_BY(mutex);
};

namespace {

bool isOurs(const char* path) {
  constexpr std::string_view kName = "libpitwall_inject.so";
  const std::string_view text(path == nullptr ? "" : path);
  return text.size() >= kName.size() && text.substr(text.size() - kName.size()) == kName;
}

}  // namespace

// Without a tool NVTX returns no domain.
OperatorRanges::OperatorRanges(const Profiler& profiler) : profiler_(profiler) {
  nvtxDomainHandle_t const domain = nvtxDomainCreateA("pitwall");
  if (domain == nullptr) return;
  attached_ = true;
  tool_is_ours_ = isOurs(std::getenv("NVTX_INJECTION64_PATH"));
  tool_ = std::make_unique<Tool>();
  tool_->domain = domain;
  for (const Phase phase : {Phase::forward, Phase::backward, Phase::update, Phase::data})
    nvtxDomainNameCategoryA(domain, static_cast<std::uint32_t>(phase), toString(phase));
}

OperatorRanges::~OperatorRanges() = default;

void OperatorRanges::push(OperatorId id) {
  Tool::Known known;
  {
    const ScopedLock lock(tool_->mutex);
    const auto [entry, fresh] = tool_->operators.try_emplace(id.value);
    if (fresh) {
      const OperatorFacts facts = profiler_.operatorFacts(id);
      std::string name = facts.name.empty() ? "operator" : facts.name;
      if (!facts.layer.empty()) name += " " + facts.layer;
      entry->second = {nvtxDomainRegisterStringA(tool_->domain, name.c_str()),
                       static_cast<std::uint32_t>(facts.phase), facts.flop};
    }
    known = entry->second;
  }
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = known.category;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = known.flop;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = known.name;
  nvtxDomainRangePushEx(tool_->domain, &attributes);
}

void OperatorRanges::pop() { nvtxDomainRangePop(tool_->domain); }

}  // namespace pitwall::nvtx
