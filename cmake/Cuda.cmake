# CUDA toolkit: PITWALL_HAS_CUDA, PITWALL_HAS_CUPTI, PITWALL_HAS_NVTX. The only file that locates it.
set(PITWALL_HAS_CUDA OFF)
if(NOT PITWALL_CUDA STREQUAL OFF AND PITWALL_BUILD_RUNTIME)
  if(DEFINED ENV{CUDA_HOME} AND NOT CUDAToolkit_ROOT)
    set(CUDAToolkit_ROOT $ENV{CUDA_HOME})
  endif()
  # CMake 3.25's module marks nvToolsExt, which CUDA 13 no longer has, as deprecated for projects that require that
  # version, and fails if it is missing.
  set(pitwall_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit QUIET)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${pitwall_minimum})
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(PITWALL_HAS_CUDA ON)
  elseif(PITWALL_CUDA STREQUAL ON)
    message(FATAL_ERROR "PITWALL_CUDA=ON, but no CUDA toolkit was found: set CUDA_HOME to its folder, or use "
      "PITWALL_CUDA=OFF")
  endif()
endif()

# The compiler of kernels: code for Ampere and Hopper, and PTX of Hopper, which the driver compiles for later devices.
if(PITWALL_HAS_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "NVIDIA architectures to compile for")
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 with CUDA 13
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
endif()

# CUPTI's headers; the library is opened at run time. Its records differ between versions: the runtime reads those of
# CUDA 13.
set(PITWALL_HAS_CUPTI OFF)
if(PITWALL_HAS_CUDA)
  find_path(PITWALL_CUPTI_INCLUDE_DIR cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
    PATHS ${CUDAToolkit_TARGET_DIR}/extras/CUPTI ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI PATH_SUFFIXES include)
  if(PITWALL_CUPTI_INCLUDE_DIR)
    file(STRINGS ${PITWALL_CUPTI_INCLUDE_DIR}/cupti_version.h pitwall_cupti_line REGEX "define CUPTI_API_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+$" PITWALL_CUPTI_VERSION "${pitwall_cupti_line}")
    if(PITWALL_CUPTI_VERSION GREATER_EQUAL 130000)
      set(PITWALL_HAS_CUPTI ON)
    endif()
  endif()
endif()

# NVTX 3: only headers, of the toolkit or of NVTX's own package.
set(PITWALL_HAS_NVTX OFF)
find_path(PITWALL_NVTX_INCLUDE_DIR nvtx3/nvToolsExtPayload.h HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{CUDA_HOME}/include)
if(PITWALL_NVTX_INCLUDE_DIR)
  set(PITWALL_HAS_NVTX ON)
endif()
