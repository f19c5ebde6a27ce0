#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> frontendSettings() { return {}; }

}  // namespace pitwall::settings
