// Finds the Python interpreter in a process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "analyzer/record/stacks/mappings.h"
#include "analyzer/record/stacks/process_memory.h"
#include "analyzer/record/stacks/symbols.h"

namespace pitwall::record {

struct PythonRuntime {
  Address address = 0;  // of _PyRuntime; 0 = the process has no interpreter
  int minor = 0;        // of Python 3; -1 = unknown
};

PythonRuntime findPython(pid_t pid, const std::vector<Mapping>& mappings, const ProcessMemory& memory,
                         SymbolFiles& files);

// 11 of "/usr/bin/python3.11" and "libpython3.11.so.1.0"; -1 = the name has no version.
int minorOfName(const std::string& path);

}  // namespace pitwall::record
