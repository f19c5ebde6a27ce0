// The one walk over a comparison that every format is made by.
#pragma once

#include "analyzer/compare.h"
#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

void writeComparison(const Comparison& comparison, Emitter& emitter);

}  // namespace pitwall::emit
