// Events of unified (managed) memory, alike in recordings and imported traces, since rules read their names. Numbers
// are CUPTI's, which Nsight Systems uses too. Standard library only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall {

// `copy` is "Memcpy UVM HtoD (Managed -> Managed)"; ", requested" follows where the program asked for it
// (cudaMemPrefetchAsync).
std::string migrationName(std::string copy, std::int64_t cause);

// Why the pages moved, as a JSON object; "" = unknown.
std::string migrationArguments(std::int64_t cause);

// "GPU page fault (write)". `processor` is "GPU" or "CPU".
std::string pageFaultName(std::string_view processor, std::int64_t access);

}  // namespace pitwall
