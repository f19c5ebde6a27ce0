#include "runtime/profiler.h"
