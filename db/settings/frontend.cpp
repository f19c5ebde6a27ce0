// The profiler, logs, files, the Python interface.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kNoPython =
    "A choice of MXNet's Python package; Pitwall is a C++ library without one.";
constexpr std::string_view kNoPythonLibrary =
    "For finding MXNet's shared library from Python; Pitwall is linked into the program.";

constexpr SettingInfo kFrontendSettings[] = {
    {.name = "DMLC_LOG_STACK_TRACE_DEPTH",
     .owner = "dmlc",
     .type = integer,
     .default_value = "0",
     .allowed = "0..",
     .unit = "frames",
     .meaning = "How many stack frames an error message of MXNet shows.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "Pitwall's errors name the operator, its place and the remedy instead of a stack. In MXNet the "
             "default depends on the build (10 in most)."},
    {.name = "MXNET_CONF_PATH",
     .owner = "mxnet",
     .type = text,
     .meaning = "Where MXNet's Python package looks for build configuration files.",
     .source = kCode,
     .status = notApplicable,
     .note = kNoPython},
    {.name = "MXNET_ENABLE_CYTHON",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether the Python package calls the library through compiled Cython modules, which have less "
         "overhead per call than ctypes.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = kNoPython},
    {.name = "MXNET_ENFORCE_CYTHON",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Makes it an error, instead of a reason to use ctypes, when the Cython modules cannot be "
                "imported.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = kNoPython},
    {.name = "MXNET_EXEC_VERBOSE_LOGGING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Logs what the executor of graphs does with each node.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "When an executor is bound: its kernels on standard error, with layer, shapes, layout and "
             "implementation."},
    {.name = "MXNET_GLUON_REPO",
     .owner = "mxnet",
     .type = text,
     .default_value = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/",
     .meaning = "Where MXNet's Gluon downloads data sets and trained models from.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "Pitwall downloads nothing."},
    {.name = "MXNET_HOME",
     .owner = "mxnet",
     .type = text,
     .default_value = "~/.mxnet",
     .meaning = "The folder that downloaded data sets and models are kept in.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "Pitwall downloads nothing; programs choose the location of their data."},
    {.name = "MXNET_INCLUDE_PATH",
     .owner = "mxnet",
     .type = text,
     .meaning = "Where MXNet's Python package finds the C headers that extensions are compiled with.",
     .source = kCode,
     .status = notApplicable,
     .note = kNoPython},
    {.name = "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Logs how dense and sparse storage is chosen for each array of a graph.",
     .source = kCode,
     .status = notApplicable,
     .note = "All arrays of Pitwall are dense: there is nothing to choose."},
    {.name = "MXNET_LIBRARY_PATH",
     .owner = "mxnet",
     .type = text,
     .meaning = "The absolute path of MXNet's shared library.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = kNoPythonLibrary},
    {.name = "MXNET_PROFILER_AUTOSTART",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Starts MXNet's profiler with the program and writes profile.json into the working directory, "
         "without any change to the program.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "Without MXNET_PROFILER_MODE everything is recorded. PITWALL_TRACE=FILE records a trace that can be "
         "analyzed. MXNet 1.9.1 reads a number here: true is an error for it."},
    {.name = "MXNET_PROFILER_MODE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "0",
     .allowed = "0..15",
     .meaning = "What MXNet's profiler records when MXNET_PROFILER_AUTOSTART starts it: 0 only operators of "
                "symbolic graphs, 1 all operators.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "In MXNet 1.9.1 it is a sum of bits (symbolic 1, imperative 2, API 4, memory 8) with default 13, so "
         "that MXNET_PROFILER_AUTOSTART alone records no imperative operator; 15 records all. Pitwall takes "
         "0 "
         "and 1 as documented, 2 to 15 as the sum of bits, and says which at the start; not set, it records "
         "all."},
    {.name = "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Logs, once each, operators that have no sparse implementation and turn their arrays into dense "
         "ones.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "All arrays of Pitwall are dense: nothing falls back."},
};
}  // namespace

std::span<const SettingInfo> frontendSettings() { return kFrontendSettings; }

}  // namespace pitwall::settings
