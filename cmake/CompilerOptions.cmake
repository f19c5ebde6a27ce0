# pitwall_options: compile options of all our targets. Not exported.
add_library(pitwall_options INTERFACE)
target_compile_options(pitwall_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Werror=thread-safety> # db/thread_annotations.h
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # g++ 12 warns about its own std::string (GCC bug 105651)
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>) # KB. Several files compiled as one: 7 % less time, at most 1 GB more
if(PITWALL_WERROR)
  target_compile_options(pitwall_options INTERFACE -Werror)
endif()
if(PITWALL_SANITIZE)
  target_compile_options(pitwall_options INTERFACE -fsanitize=${PITWALL_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  # Clang's "undefined" checks C functions of another library against our declarations of them; its warnings about loops
  # that could not be vectorized are no defects.
  target_compile_options(pitwall_options INTERFACE
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function -Wno-pass-failed>)
  target_link_options(pitwall_options INTERFACE -fsanitize=${PITWALL_SANITIZE})
endif()

# pitwall_library(name ALIAS trace SOURCES ...): a library with the include root and alias pitwall::ALIAS.
function(pitwall_library name)
  cmake_parse_arguments(arg "" "ALIAS" "SOURCES" ${ARGN})
  add_library(${name})
  target_sources(${name} PRIVATE ${arg_SOURCES})
  add_library(pitwall::${arg_ALIAS} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${arg_ALIAS})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:include/pitwall>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:pitwall_options>)
  set_property(GLOBAL APPEND PROPERTY PITWALL_LIBRARIES ${name})
endfunction()
