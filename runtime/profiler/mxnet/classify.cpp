#include "runtime/profiler/mxnet/classify.h"

#include "db/json_string.h"

namespace pitwall::mxnet {

namespace {

constexpr char kObjectKey[] = "\"mxnet\":\"";
constexpr char kScopeKey[] = "\",\"scope\":\"";
constexpr char kDomainKey[] = "\",\"domain\":";

}  // namespace

std::string objectMembers(const std::string& object, const std::string& category, char scope) {
  return kObjectKey + object + kScopeKey + scope + kDomainKey + jsonString(category);
}

Class classify(EventKind kind, const std::string& name, const std::string& args) {
  if (kind == EventKind::operatorRun)
    return {Object::op, name.find("::") == std::string::npos ? "operator" : "Custom Operator", 'p'};
  if (kind == EventKind::api || kind == EventKind::wait) return {Object::api, "MXNET_C_API", 'p'};
  const std::string start = std::string("{") + kObjectKey;
  if (args.compare(0, start.size(), start) != 0) return {};
  const std::size_t scope = args.find(kScopeKey, start.size());
  const std::size_t domain = args.find(kDomainKey, start.size());
  if (scope == std::string::npos || domain == std::string::npos) return {};
  const std::string object = args.substr(start.size(), scope - start.size());
  Class found;
  found.object = object == "task"    ? Object::task
                 : object == "frame" ? Object::frame
                 : object == "event" ? Object::event
                                     : Object::marker;
  found.scope = args[scope + sizeof kScopeKey - 1];
  // The quoted category.
  const std::size_t at = domain + sizeof kDomainKey;
  for (std::size_t i = at; i < args.size() && args[i] != '"'; ++i) {
    if (args[i] == '\\' && i + 1 < args.size()) ++i;
    found.category += args[i];
  }
  return found;
}

bool isMemoryTrack(const std::string& track_name) { return track_name.rfind("memory ", 0) == 0; }

}  // namespace pitwall::mxnet
