#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> gpuSettings() { return {}; }

}  // namespace pitwall::settings
