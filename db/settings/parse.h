// Text to value, as the catalogue promises (db/settings.h, checkSettingValue): surrounding blanks are
// tolerated, nothing else. nullopt when the text is not of that form.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pitwall::settings {

std::string_view trimmed(std::string_view text);
std::optional<bool> parseBoolean(std::string_view text);
std::optional<std::int64_t> parseInteger(std::string_view text);
std::optional<double> parseReal(std::string_view text);

}  // namespace pitwall::settings
