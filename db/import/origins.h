// Files NAME.about among the inputs, which say what a profile beside them does not contain.
#pragma once

#include <string>
#include <vector>

#include "db/import/input/input_list.h"

namespace pitwall::import {

// Removes them from `inputs` and gives each one to the input that it names: by its path, or by its file name where the
// folder was moved. Returns their notes.
std::vector<std::string> takeOrigins(std::vector<InputFile>& inputs);

}  // namespace pitwall::import
