#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> openmpSettings() { return {}; }

}  // namespace pitwall::settings
