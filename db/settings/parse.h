// Parses text to a value, as the catalogue specifies (db/settings.h, checkSettingValue): only surrounding
// blanks are tolerated. nullopt when the text does not have that form.
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
