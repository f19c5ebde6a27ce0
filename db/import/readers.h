// The readers: each passes one recognised input to the builder. A damaged input ends early and is reported
// through Tally::damaged(); errors are those that end the whole import (io, cancelled, nothing readable at
// all).
#pragma once

#include "db/import/build/builder.h"
#include "db/import/input/window.h"

namespace pitwall::import {

// An object with traceEvents, an array of events (closed or not), or one event per line.
Status readChrome(Window& window, const ImportOptions& options, Builder& builder);
// The profile of ONNX Runtime's session option enable_profiling: Chrome Trace Event JSON with its own meaning.
Status readOrt(Window& window, const ImportOptions& options, Builder& builder);
// The profilers of JAX and TensorFlow: trace.json and xplane.pb.
Status readXlaTraceJson(Window& window, const ImportOptions& options, Builder& builder);
Status readXplane(const std::string& path, const ImportOptions& options, Builder& builder);
// What PyTorch's other observers write: the order of operators, and what its allocator did.
Status readExecutionTrace(Window& window, const ImportOptions& options, Builder& builder);
Status readMemorySnapshot(Window& window, const ImportOptions& options, Builder& builder);
// A trace of Perfetto: its packets of track events.
Status readPftrace(Window& window, const ImportOptions& options, Builder& builder);
// oneDNN and MKL verbose lines and NCCL's debug lines, mixed with other text. Sets `found` when there is at
// least one.
Status readOneDnn(Window& window, const ImportOptions& options, Builder& builder, bool& found);
// Dumps of NCCL's inspector, one JSON object per line.
Status readNcclInspector(Window& window, const ImportOptions& options, Builder& builder);
// The text of mxnet.profiler.dumps().
Status readMxNetTable(Window& window, const ImportOptions& options, Builder& builder);
// A database that Nsight Systems exported.
Status readNsight(const std::string& path, const ImportOptions& options, Builder& builder);

// What nvprof --csv prints, and the CSV and JSON files of rocprofv3.
Status readNvprofCsv(Window& window, const ImportOptions& options, Builder& builder);
Status readRocmCsv(Window& window, const ImportOptions& options, Builder& builder);
Status readRocmJson(Window& window, const ImportOptions& options, Builder& builder);
// A database of nvprof or the NVIDIA Visual Profiler.
Status readNvprof(const std::string& path, const ImportOptions& options, Builder& builder);
// A database of rocprofv3.
Status readRocpd(const std::string& path, const ImportOptions& options, Builder& builder);

// Sampled call stacks: what perf script prints, files of speedscope, stacks of one line each with a count.
Status readPerfScript(Window& window, const ImportOptions& options, Builder& builder);
Status readSpeedscope(const std::string& path, const ImportOptions& options, Builder& builder);
Status readCollapsed(Window& window, const ImportOptions& options, Builder& builder);

// A database of ordinary rows that `pitwall export --format rows` wrote.
Status readRows(const std::string& path, const ImportOptions& options, Builder& builder);

// A Pitwall trace file.
Status readTrace(const std::string& path, const ImportOptions& options, Builder& builder);

}  // namespace pitwall::import
