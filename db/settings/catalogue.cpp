#include "db/settings/catalogue.h"

#include <algorithm>
#include <vector>

namespace pitwall {

std::span<const SettingInfo> settingCatalogue() {
  static const std::vector<SettingInfo> kAll = [] {
    using namespace settings;
    std::vector<SettingInfo> all;
    for (const auto part : {engineSettings(), memorySettings(), operatorSettings(), onednnOfMxnetSettings(),
                            gpuSettings(), kvstoreSettings(), frontendSettings(), openmpSettings(),
                            librarySettings(), nvidiaSettings(), pitwallSettings()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    std::ranges::sort(all, {}, &SettingInfo::name);
    return all;
  }();
  return kAll;
}

const SettingInfo* findSetting(std::string_view name) {
  const auto all = settingCatalogue();
  const auto found = std::ranges::lower_bound(all, name, {}, &SettingInfo::name);
  if (found != all.end() && found->name == name) return &*found;
  for (const SettingInfo& info : all) {
    if (info.name.ends_with('*') && name.starts_with(info.name.substr(0, info.name.size() - 1))) return &info;
  }
  return nullptr;
}

const char* toString(SettingType type) {
  switch (type) {
    case SettingType::boolean: return "boolean";
    case SettingType::integer: return "integer";
    case SettingType::real: return "real";
    case SettingType::text: return "text";
    case SettingType::choice: return "choice";
  }
  return "?";
}

const char* toString(SettingStatus status) {
  switch (status) {
    case SettingStatus::honoured: return "honoured";
    case SettingStatus::planned: return "planned";
    case SettingStatus::external: return "external";
    case SettingStatus::notApplicable: return "not applicable";
  }
  return "?";
}

}  // namespace pitwall
