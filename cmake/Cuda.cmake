# CUDA toolkit: PITWALL_HAS_CUDA. The only file that knows where it lies.
set(PITWALL_HAS_CUDA OFF)
if(NOT PITWALL_CUDA STREQUAL OFF AND PITWALL_BUILD_RUNTIME)
  if(DEFINED ENV{CUDA_HOME} AND NOT CUDAToolkit_ROOT)
    set(CUDAToolkit_ROOT $ENV{CUDA_HOME})
  endif()
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(PITWALL_HAS_CUDA ON)
  elseif(PITWALL_CUDA STREQUAL ON)
    message(FATAL_ERROR "PITWALL_CUDA=ON, but no CUDA toolkit was found: set CUDA_HOME to its folder, or use "
      "PITWALL_CUDA=OFF")
  endif()
endif()
