# What to build. Each stage builds alone: db; db + runtime; db + analyzer.
option(PITWALL_BUILD_RUNTIME "Build the embedded runtime (needs oneDNN, hwloc)" ON)
option(PITWALL_BUILD_ANALYZER "Build the analyzer and the pitwall command (needs toml++, CLI11)" ON)
option(PITWALL_BUILD_SAMPLES "Build the sample programs (needs the runtime)" ON)
option(PITWALL_BUILD_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(PITWALL_BUILD_BENCH "Build the benchmarks (needs Google Benchmark)" ${PROJECT_IS_TOP_LEVEL})

# Optional parts. AUTO: built when what it needs is found. ON: an error when not. OFF: not looked for.
foreach(part CUDA GUI MPI)
  set(PITWALL_${part} AUTO CACHE STRING "AUTO, ON or OFF")
  set_property(CACHE PITWALL_${part} PROPERTY STRINGS AUTO ON OFF)
  if(NOT PITWALL_${part} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "PITWALL_${part}=${PITWALL_${part}}: must be AUTO, ON or OFF")
  endif()
endforeach()

set(PITWALL_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(PITWALL_WERROR "Treat warnings as errors" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(PITWALL_CCACHE ccache)
if(PITWALL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PITWALL_CCACHE})
endif()
