#include "db/settings/catalogue.h"

namespace pitwall::settings {

std::span<const SettingInfo> kvstoreSettings() { return {}; }

}  // namespace pitwall::settings
