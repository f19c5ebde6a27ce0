// Whether an input is a file of PyTorch's other observers, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isExecutionTrace(std::string_view start);
// A pickle that names the members of a memory snapshot.
bool isMemorySnapshot(std::string_view start);

}  // namespace pitwall::import
