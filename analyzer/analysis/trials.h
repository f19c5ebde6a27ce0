// How long an iteration takes with other numbers of OpenMP threads or other batch sizes, from traces of the
// same program.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/reading.h"
#include "analyzer/report.h"
#include "db/reader.h"

namespace pitwall::analysis {

// Writes analysis_thread_trial, its former name analysis_probe, analysis_thread_curve (analyzer/analysis/thread_curve.h)
// and analysis_batch (analyzer/analysis/batch_trials.h), from the trace itself, from its meta keys probe.openmp_threads.N, and
// from the traces of `trials`: those with another batch size and as many threads are trials of the batch.
// Each trial that is left out becomes a note of the report, with the reason. Errors: corruptTrace; cancelled.
Status writeTrials(Trace& trace, const Timeline& timeline, const Iterations& iterations,
                   const std::vector<AnalyzeOptions::Trial>& trials, const Reading& reading, Report& report);

}  // namespace pitwall::analysis
