# libelf of elfutils, which has no CMake package: the target LibElf::LibElf.
find_path(PITWALL_ELF_INCLUDE_DIR gelf.h)
find_library(PITWALL_ELF_LIBRARY elf)
mark_as_advanced(PITWALL_ELF_INCLUDE_DIR PITWALL_ELF_LIBRARY)
if(NOT PITWALL_ELF_INCLUDE_DIR OR NOT PITWALL_ELF_LIBRARY)
  message(FATAL_ERROR "libelf is missing, which names sampled functions: install libelf-dev")
endif()
add_library(LibElf::LibElf UNKNOWN IMPORTED)
set_target_properties(LibElf::LibElf PROPERTIES IMPORTED_LOCATION ${PITWALL_ELF_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${PITWALL_ELF_INCLUDE_DIR})
