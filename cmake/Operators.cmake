# The operators of the runtime. Each has its header runtime/operators/NAME.h, which declares its Desc, its NAME.cpp, and a
# NAME.cpp in the folder of each backend that has a kernel for it. The lists that a static library needs are generated
# from these files:
#   runtime/operator_list.h             includes the headers; installed with them
#   runtime/operators/operator_list.inc PITWALL_OPERATOR(Desc) for each operator
#   runtime/backend/*/kernel_list.inc   the same for those with a kernel there
set(PITWALL_GENERATED ${PROJECT_BINARY_DIR}/include)
target_include_directories(pitwall_runtime PUBLIC $<BUILD_INTERFACE:${PITWALL_GENERATED}>)
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/operators/*.h)
set(PITWALL_OPERATORS)
foreach(header ${headers})
  cmake_path(GET header STEM name)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/operators/${name}.cpp)
    message(FATAL_ERROR "runtime/operators/${name}.h has no ${name}.cpp: each header there is an operator; move others to operators/support/")
  endif()
  list(APPEND PITWALL_OPERATORS ${name})
endforeach()

# softmax_cross_entropy -> SoftmaxCrossEntropyDesc
function(pitwall_desc_name operator result)
  string(REPLACE "_" ";" words ${operator})
  set(name)
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND name ${first}${rest})
  endforeach()
  set(${result} ${name}Desc PARENT_SCOPE)
endfunction()

function(pitwall_operator_list file)
  set(text "// Generated from the files in the folder.\n")
  foreach(operator ${ARGN})
    pitwall_desc_name(${operator} desc)
    string(APPEND text "PITWALL_OPERATOR(${desc})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PITWALL_GENERATED}/${file} CONTENT "${text}" @ONLY)
endfunction()

set(text "// Generated: the operators in runtime/operators/.\n#pragma once\n\n")
foreach(operator ${PITWALL_OPERATORS})
  string(APPEND text "#include \"runtime/operators/${operator}.h\"\n")
endforeach()
file(CONFIGURE OUTPUT ${PITWALL_GENERATED}/runtime/operator_list.h CONTENT "${text}" @ONLY)
pitwall_operator_list(runtime/operators/operator_list.inc ${PITWALL_OPERATORS})

# Adds the kernels in the folder of a backend. OWN: its files that are no kernels.
function(pitwall_backend)
  cmake_parse_arguments(arg "" "" "OWN" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(kernels)
  foreach(file ${files})
    cmake_path(GET file STEM name)
    if(name IN_LIST PITWALL_OPERATORS)
      list(APPEND kernels ${name})
    elseif(NOT ${name}.cpp IN_LIST arg_OWN)
      message(FATAL_ERROR "${folder}/${name}.cpp is a kernel of no operator: there is no runtime/operators/${name}.h")
    endif()
  endforeach()
  pitwall_operator_list(${folder}/kernel_list.inc ${kernels})
  target_sources(pitwall_runtime PRIVATE ${files})
endfunction()
