// MXNet's own switches for its oneDNN operators. oneDNN's former name was MKL-DNN; MXNet 1.x kept it.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr SettingInfo kTable[] = {
    {.name = "MXNET_MKLDNN_CACHE_NUM",
     .owner = "mxnet",
     .type = integer,
     .default_value = "-1",
     .allowed = "-1..",
     .unit = "primitives",
     .meaning =
         "How many prepared oneDNN computations (primitives) are kept for reuse; -1 is without limit. A "
         "primitive belongs to one shape, so a program whose shapes vary can fill memory with them; a limit "
         "that is too small makes oneDNN prepare the same ones again and again.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "In MXNet 1.9.1 the limit holds for each operator type, in Pitwall for all together. 0 keeps none."},
    {.name = "MXNET_MKLDNN_ENABLED",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether CPU operators use oneDNN. Off, plain loops compute everything: slow, but an independent "
         "second opinion when a result looks wrong.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Off selects Pitwall's reference backend; PITWALL_BACKEND, when set, decides instead."},
};
}  // namespace

std::span<const SettingInfo> onednnOfMxnetSettings() { return kTable; }

}  // namespace pitwall::settings
