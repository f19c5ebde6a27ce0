// Old name of runtime/record_macros.h, kept for one version.
#pragma once

#include "runtime/record_macros.h"
