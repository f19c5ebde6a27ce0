#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> nvidiaSettings() { return {}; }

}  // namespace pitwall::settings
