#include "db/import/nccl/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "db/import/input/text.h"
#include "db/redact.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostFacts = 512;
constexpr std::int64_t kMostWarnings = 16;

std::string_view after(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + what.size());
}
std::string_view word(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" ,;\t\r"));
}
// "host:pid:tid [0] proxy.cc:1458" before the level; a logger's prefix may precede it.
struct Origin {
  std::string_view host;
  std::string_view pid;
};
std::optional<Origin> originOf(std::string_view prefix) {
  while (!prefix.empty()) {
    const std::string_view part = prefix.substr(0, prefix.find(' '));
    prefix.remove_prefix(std::min(prefix.size(), part.size() + 1));
    const std::size_t second = part.rfind(':');
    if (second == std::string_view::npos || second == 0) continue;
    const std::size_t first = part.rfind(':', second - 1);
    if (first == std::string_view::npos || first == 0) continue;
    const Origin origin{part.substr(0, first), part.substr(first + 1, second - first - 1)};
    if (parseInteger(origin.pid) && parseInteger(part.substr(second + 1))) return origin;
  }
  return std::nullopt;
}

// Sizes of NCCL's data types, indexed by their number from ncclInt8 = 0.
struct DataType {
  const char* name;
  std::int64_t bytes;
};
constexpr std::array<DataType, 12> kTypes = {{{"int8", 1},
                                              {"uint8", 1},
                                              {"int32", 4},
                                              {"uint32", 4},
                                              {"int64", 8},
                                              {"uint64", 8},
                                              {"float16", 2},
                                              {"float32", 4},
                                              {"float64", 8},
                                              {"bfloat16", 2},
                                              {"float8e4m3", 1},
                                              {"float8e5m2", 1}}};

}  // namespace

void NcclLog::fact(std::string_view key, std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
  if (value.empty() || (facts_.size() >= kMostFacts && facts_.find(key) == facts_.end())) return;
  facts_.insert_or_assign(std::string(key), redactText(value));
}

bool NcclLog::line(std::string_view text, std::int64_t now_ns) {
  const std::size_t at = text.find(" NCCL ");
  if (at == std::string_view::npos) return false;
  std::string_view message = text.substr(at + 6);
  const std::string_view level = message.substr(0, 5);
  if (level != "INFO " && level != "WARN " && level != "TRACE") return false;
  const auto origin = originOf(text.substr(0, at));
  if (!origin) return false;
  message.remove_prefix(5);
  ++lines_;
  const ProcessRef process = builder_.tracks().process(fmt::format("{}:{}", origin->host, origin->pid));
  if (const auto pid = parseInteger(origin->pid)) builder_.tracks().setPid(process, *pid, origin->host);
  if (level == "WARN ") {
    ++builder_.tally().record("lines NCCL WARN");
    if (++warnings_ <= kMostWarnings) fact(fmt::format("nccl.warning.{}", warnings_), message.substr(0, 300));
    return true;
  }
  ++builder_.tally().record("lines NCCL");
  info(process, message, now_ns);
  return true;
}

void NcclLog::info(ProcessRef process, std::string_view message, std::int64_t now_ns) {
  if (const auto version = word(after(message, "NCCL version ")); !version.empty()) {
    version_ = std::string(version.substr(0, 40));
    return fact("nccl.version", version_);
  }
  if (const auto network = after(message, "Using network "); !network.empty())
    return fact("nccl.network", network);
  if (message.starts_with("NET/IB : No device")) return fact("nccl.infiniband", "no device found");
  if (message.starts_with("NET/IB : Using ")) return fact("nccl.infiniband", message.substr(15));
  if (message.starts_with("NET/Socket : Using ")) {  // the interface; its address is left out
    const std::string_view rest = message.substr(19);
    return fact("nccl.socket_interface", word(rest.substr(0, rest.find(':'))));
  }
  if (const auto all_direct = word(after(message, "isAllDirectP2p ")); !all_direct.empty())
    return fact("nccl.all_direct_p2p", all_direct);
  if (const auto via = after(message, " via "); message.starts_with("Channel ") && !via.empty()) {
    std::string name;
    appendClean(via.substr(0, via.find_first_of(" \r")), name);
    if (transports_.size() < kMostFacts || transports_.count(name) > 0) ++transports_[name];
    return;
  }
  if (const auto nodes = word(after(message, "nNodes ")); !nodes.empty()) {
    fact("nccl.nodes", nodes);
    return fact("nccl.local_ranks", word(after(message, "localRanks ")));
  }
  if (const std::size_t at = message.find(" coll channels"); at != std::string_view::npos)
    return fact("nccl.channels", word(message));
  if (const auto affinity = after(message, "Setting affinity for GPU "); !affinity.empty())
    return fact(fmt::format("nccl.affinity.gpu{}", word(affinity)), after(affinity, " to "));
  if (const auto value = after(message, " set by environment to ");
      !value.empty() && message.starts_with("NCCL_")) {
    std::string name, text;
    appendClean(word(message), name);
    std::string_view plain = value.substr(0, value.find_first_of("\r"));
    while (!plain.empty() && (plain.back() == '.' || plain.back() == ' ')) plain.remove_suffix(1);
    appendClean(redactValue(name, plain), text);
    if (builder_.isFirstInput()) builder_.sink().setting({name, text, SettingSource::environment});
    return;
  }
  if (call(process, message, now_ns)) return;
  initialised(process, message, now_ns);
}

// "comm 0x.. rank 1 nranks 2 cudaDev 1 .. - Init COMPLETE", "Init timings - ncclCommInitRank: rank 0 nranks 2
// total 0.85 (..)"
void NcclLog::initialised(ProcessRef process, std::string_view message, std::int64_t now_ns) {
  const auto rank = parseInteger(word(after(message, " rank ")));
  const auto ranks = word(after(message, " nranks "));
  if (!rank || ranks.empty() || *rank < 0 || *rank > 1'000'000) return;
  builder_.tracks().nameProcess(process, fmt::format("nccl rank {}", *rank));
  fact("nccl.ranks", ranks);
  if (message.find("Init timings") == std::string_view::npos) return;
  const auto total = parseScaled(word(after(message, " total ")), 1'000'000'000);
  if (!total || *total < 0) return;
  Event event;
  event.start_ns = now_ns;
  event.dur_ns = *total;
  event.name = builder_.names().name("ncclCommInitRank");
  builder_.add(builder_.tracks().lane(process, "NCCL calls"), event);
}

// "AllReduce: opCount 0 sendbuff 0x.. recvbuff 0x.. count 1024 datatype 7 op 0 root 0 comm 0x.. [nranks=2]
// stream 0x.."
bool NcclLog::call(ProcessRef process, std::string_view message, std::int64_t now_ns) {
  const std::size_t colon = message.find(": opCount ");
  if (colon == std::string_view::npos || colon == 0 || colon > 40) return false;
  const std::string_view name = message.substr(0, colon);
  if (!std::all_of(name.begin(), name.end(),
                   [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }))
    return false;
  const auto count = parseInteger(word(after(message, " count "))).value_or(0);
  const auto type = parseInteger(word(after(message, " datatype "))).value_or(-1);
  std::string args = fmt::format("{{\"collective\":\"{}\"", name);
  Event event;
  event.kind = EventKind::communication;
  event.start_ns = now_ns;
  if (type >= 0 && type < static_cast<std::int64_t>(kTypes.size()) && count >= 0 &&
      count < (std::int64_t{1} << 50)) {
    const DataType& known = kTypes[static_cast<std::size_t>(type)];
    event.value = count * known.bytes;
    args += fmt::format(",\"dtype\":\"{}\",\"in_elements\":{}", known.name, count);
  }
  const std::string_view group = after(message, "[nranks=");
  if (const auto size = parseInteger(group.substr(0, group.find(']'))))
    args += fmt::format(",\"group_size\":{}", *size);
  event.name = builder_.names().name(name);
  event.args = builder_.names().args(args + "}");
  builder_.add(builder_.tracks().lane(process, "NCCL calls"), event);
  return true;
}

void NcclLog::end() {
  for (const auto& [transport, count] : transports_)
    fact(fmt::format("nccl.channels_via.{}", transport), std::to_string(count));
  for (const auto& [key, value] : facts_) builder_.meta(key, value);
}

}  // namespace pitwall::import
