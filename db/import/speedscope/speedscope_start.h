// Whether a text is a profile of speedscope, or stacks of one line each with a count, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isSpeedscope(std::string_view start);
// "main;train;step 12"
bool isCollapsed(std::string_view start);

}  // namespace pitwall::import
