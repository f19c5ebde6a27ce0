#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> librarySettings() { return {}; }

}  // namespace pitwall::settings
