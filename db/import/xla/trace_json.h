// Whether a text is the trace.json of JAX or TensorFlow, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isXlaTraceJson(std::string_view start);

}  // namespace pitwall::import
