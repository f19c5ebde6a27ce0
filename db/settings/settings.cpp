// The values in effect in one process.
#include "db/settings.h"

#include <unistd.h>

#include <algorithm>

#include "db/check.h"
#include "db/settings/parse.h"
#include "db/try.h"

namespace pitwall {

namespace {

constexpr std::string_view kTunablePrefix = "PITWALL_TUNE_";

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs environmentPairs() {
  Pairs pairs;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

const SettingInfo& knownSetting(std::string_view name, SettingType type) {
  const SettingInfo* info = findSetting(name);
  PITWALL_CHECK(info != nullptr, "%s is not in the catalogue", std::string(name).c_str());
  PITWALL_CHECK(info->type == type || type == SettingType::text, "%s has type %s", std::string(name).c_str(),
                toString(info->type));
  return *info;
}

// The value in effect, parsed. Invalid values of settings with another owner are not rejected earlier, so
// they fall back to the default here.
template <class Parse>
auto parsedOrDefault(const SettingInfo& info, std::string_view text, Parse parse) {
  auto value = parse(text);
  if (!value.has_value()) value = parse(info.default_value);
  PITWALL_CHECK(value.has_value(), "%s has neither value nor default", std::string(info.name).c_str());
  return *value;
}

}  // namespace

Result<Settings> Settings::fromEnvironment() { return fromValues(environmentPairs()); }

Result<Settings> Settings::fromValues(std::span<const std::pair<std::string, std::string>> values) {
  Settings settings;
  for (const auto& [name, value] : values) {
    if (value.empty()) continue;
    if (name.starts_with(kTunablePrefix)) {
      settings.tunables_[name.substr(kTunablePrefix.size())] = value;
      continue;
    }
    const SettingInfo* info = findSetting(name);
    if (info == nullptr) continue;
    if (info->status == SettingStatus::honoured) {
      PITWALL_TRY(checkSettingValue(*info, value));
    }
    settings.values_[name] = {value, SettingSource::environment};
  }
  return settings;
}

Status Settings::set(std::string_view name, std::string_view value) {
  const SettingInfo* info = findSetting(name);
  if (info == nullptr) {
    return fail(ErrorCode::notFound,
                std::string(name) + ": no setting of that name; `pitwall env` lists the known ones");
  }
  PITWALL_TRY(checkSettingValue(*info, value));
  if (name.starts_with(kTunablePrefix)) {
    tunables_.try_emplace(std::string(name.substr(kTunablePrefix.size())), value);
    return {};
  }
  const auto found = values_.find(std::string(name));
  if (found != values_.end() && found->second.source == SettingSource::environment) return {};
  if (value.empty()) {
    values_.erase(std::string(name));
  } else {
    values_[std::string(name)] = {std::string(value), SettingSource::program};
  }
  return {};
}

bool Settings::boolean(std::string_view name) const {
  const SettingInfo& info = knownSetting(name, SettingType::boolean);
  return parsedOrDefault(info, text(name), settings::parseBoolean);
}

std::int64_t Settings::integer(std::string_view name) const {
  const SettingInfo& info = knownSetting(name, SettingType::integer);
  return parsedOrDefault(info, text(name), settings::parseInteger);
}

double Settings::real(std::string_view name) const {
  const SettingInfo& info = knownSetting(name, SettingType::real);
  return parsedOrDefault(info, text(name), settings::parseReal);
}

std::string_view Settings::text(std::string_view name) const {
  const SettingInfo& info = knownSetting(name, SettingType::text);
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? info.default_value : std::string_view(found->second.text);
}

bool Settings::isSet(std::string_view name) const { return values_.contains(std::string(name)); }

SettingInEffect Settings::inEffect(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  const auto source = found == values_.end() ? SettingSource::byDefault : found->second.source;
  return {std::string(name), std::string(text(name)), source};
}

std::vector<SettingInEffect> Settings::allInEffect() const {
  std::vector<SettingInEffect> all;
  for (const SettingInfo& info : settingCatalogue()) {
    if (info.name.ends_with('*')) continue;
    if (info.status == SettingStatus::honoured || isSet(info.name)) all.push_back(inEffect(info.name));
  }
  for (const auto& [name, value] : values_) {  // names that only a pattern covers
    const SettingInfo* info = findSetting(name);
    if (info->name.ends_with('*')) all.push_back(inEffect(name));
  }
  std::ranges::sort(all, {}, &SettingInEffect::name);
  return all;
}

Result<std::optional<std::int64_t>> Settings::tunable(std::string_view name) const {
  const auto found = tunables_.find(std::string(name));
  if (found == tunables_.end()) return std::optional<std::int64_t>{};
  const auto value = settings::parseInteger(found->second);
  if (!value.has_value()) {
    return fail(ErrorCode::invalidInput, std::string(kTunablePrefix)
                                             .append(name)
                                             .append("=")
                                             .append(found->second)
                                             .append(": must be an integer"));
  }
  return value;
}

TunableInEffect Settings::chosen(TunableInEffect declared, std::string& refused) const {
  const auto wanted = tunable(declared.name);
  const std::string stays = declared.name + " stays " + std::to_string(declared.value);
  if (!wanted.has_value()) {
    refused = wanted.error().message + "; " + stays;
  } else if (wanted->has_value() && (**wanted < declared.minimum || **wanted > declared.maximum)) {
    refused = std::string(kTunablePrefix) + declared.name + "=" + std::to_string(**wanted) + ": " +
              std::to_string(declared.minimum) + " to " + std::to_string(declared.maximum) +
              " are allowed; " + stays;
  } else if (wanted->has_value()) {
    declared.value = **wanted;
    declared.source = SettingSource::environment;
  }
  return declared;
}

}  // namespace pitwall
