// The viewer's window for timeline_bench.
#pragma once

namespace pitwall::bench {

// The first window, without a trace.
void measureWindow();

}  // namespace pitwall::bench
