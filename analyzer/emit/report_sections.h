// The one walk over a report that every format is made by.
#pragma once

#include "analyzer/emit.h"
#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

void writeReport(const Report& report, ReportDetail detail, Emitter& emitter);

}  // namespace pitwall::emit
