# libelf of elfutils as LibElf::LibElf; it has no CMake package.
if(NOT TARGET LibElf::LibElf)
  find_path(LIBELF_INCLUDE_DIR gelf.h REQUIRED)
  find_library(LIBELF_LIBRARY elf REQUIRED)
  add_library(LibElf::LibElf INTERFACE IMPORTED)
  target_include_directories(LibElf::LibElf INTERFACE ${LIBELF_INCLUDE_DIR})
  target_link_libraries(LibElf::LibElf INTERFACE ${LIBELF_LIBRARY})
endif()
