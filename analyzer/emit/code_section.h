// The report's section on functions of sampled stacks.
#pragma once

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

// "train.py:12"; of native code the library.
std::string sourcePlace(const std::string& file, std::int64_t line);

void writeCodeSection(const CodeReport& code, Emitter& emitter);

}  // namespace pitwall::emit
