// CUPTI loaded at run time: a table of its functions. Tests supply their own.
#pragma once

#include <cupti.h>

#include <string>

#include "db/result.h"
#include "runtime/profiler/cupti/counter_functions.h"

namespace pitwall::cupti {

struct Library {
  decltype(&cuptiGetVersion) getVersion = nullptr;
  decltype(&cuptiGetResultString) getResultString = nullptr;
  decltype(&cuptiGetCallbackName) getCallbackName = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableDomain) enableDomain = nullptr;
  decltype(&cuptiEnableCallback) enableCallback = nullptr;
  decltype(&cuptiActivityEnable) activityEnable = nullptr;
  decltype(&cuptiActivityDisable) activityDisable = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configureUnifiedMemory = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) registerCallbacks = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) registerTimestampCallback = nullptr;
  decltype(&cuptiActivitySetAttribute) setAttribute = nullptr;
  decltype(&cuptiActivityFlushAll) flushAll = nullptr;
  decltype(&cuptiActivityFlushPeriod) flushPeriod = nullptr;
  decltype(&cuptiActivityGetNextRecord) getNextRecord = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) getNumDroppedRecords = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) pushExternal = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) popExternal = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enableDriverApi = nullptr;            // may be absent
  decltype(&cuptiActivityEnableRuntimeApi) enableRuntimeApi = nullptr;          // may be absent
  decltype(&cuptiActivityEnableHWTrace) enableHwTrace = nullptr;                // may be absent
  decltype(&cuptiActivityEnableAllSyncRecords) enableAllSyncRecords = nullptr;  // may be absent
  decltype(&cuptiSetThreadIdType) setThreadIdType = nullptr;
  decltype(&cuptiFinalize) finalize = nullptr;
  decltype(&cuptiGetDeviceId) getDeviceId = nullptr;
  const CounterFunctions* counters = nullptr;  // none where one of these is absent
};

// Loads CUPTI, once. Errors: unsupported, as sentences: no driver; a driver older than CUPTI needs; no CUPTI,
// or one of another major version, or without a required function.
Result<const Library*> openLibrary();

// "CUPTI reports CUPTI_ERROR_UNKNOWN (999)".
std::string reportedBy(const Library& library, CUptiResult result);

// The reason why CUPTI `needed` (13000 = CUDA 13.0) does not work with a driver for CUDA `served` (0 = no
// driver); "" = it works.
std::string driverProblem(int served, int needed);

}  // namespace pitwall::cupti
