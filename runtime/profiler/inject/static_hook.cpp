// Linked into a program, this makes NVTX record without any environment variable: NVTX declares the pointers
// weak and uses these.
#include "runtime/profiler/nvtx/abi.h"

extern "C" {
int InitializeInjectionNvtx2(pitwall::nvtx::abi::GetExportTable get);
int InitializeInjectionNvtxExtension(pitwall::nvtx::abi::ExtensionModule* module);
int (*InitializeInjectionNvtx2_fnptr)(pitwall::nvtx::abi::GetExportTable) = InitializeInjectionNvtx2;
int (*InitializeInjectionNvtxExtension_fnptr)(pitwall::nvtx::abi::ExtensionModule*) =
    InitializeInjectionNvtxExtension;
}
