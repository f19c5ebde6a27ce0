# Install and export: public headers, libraries as pitwall::NAME, rules, the command. Components, of which cmake/Packages.cmake
# makes packages: command, library (the shared one), development, viewer, python.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(pitwall_libraries GLOBAL PROPERTY PITWALL_LIBRARIES)
install(TARGETS ${pitwall_libraries} EXPORT pitwallTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# include/pitwall/db/store.h: users write #include "db/store.h", as we do.
set(pitwall_public_folders db)
if(PITWALL_BUILD_RUNTIME)
  list(APPEND pitwall_public_folders runtime)
endif()
if(PITWALL_BUILD_ANALYZER)
  list(APPEND pitwall_public_folders analyzer)
endif()
foreach(folder ${pitwall_public_folders})
  file(GLOB pitwall_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  list(FILTER pitwall_headers EXCLUDE REGEX "analyzer/manual.h$") # for our own programs
  install(FILES ${pitwall_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/${folder} COMPONENT development)
endforeach()
if(PITWALL_BUILD_RUNTIME)
  file(GLOB pitwall_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/operators/*.h)
  install(FILES ${pitwall_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/runtime/operators
    COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/include/runtime/operator_list.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/runtime COMPONENT development)
endif()

# Packages have the licence and the changes in the form of the distribution.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT licence)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command
  FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.png" PATTERN adr EXCLUDE)

set(pitwall_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pitwall)
install(EXPORT pitwallTargets NAMESPACE pitwall:: DESTINATION ${pitwall_config_folder} COMPONENT development)
if(PITWALL_BUILD_RUNTIME)
  install(EXPORT pitwallCTargets NAMESPACE pitwall:: DESTINATION ${pitwall_config_folder} COMPONENT development)
endif()
set(PITWALL_WITH_MPI OFF)
if(TARGET pitwall_mpi)
  set(PITWALL_WITH_MPI ON)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pitwallConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfig.cmake INSTALL_DESTINATION ${pitwall_config_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/pitwallConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallDnnl.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallElf.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallImages.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallMpi.cmake
  DESTINATION ${pitwall_config_folder} COMPONENT development)

# All that is installed, without the tests, benchmarks and samples.
add_custom_target(pitwall_all)
set(pitwall_check "")
foreach(target ${pitwall_libraries} pitwall_inject pitwall_sqlite pitwall pitwall_gui_program)
  if(TARGET ${target})
    add_dependencies(pitwall_all ${target})
    string(APPEND pitwall_check "require_built(\"$<TARGET_FILE:${target}>\")\n")
  endif()
endforeach()
get_property(pitwall_manuals GLOBAL PROPERTY PITWALL_MANUALS)
foreach(target ${pitwall_manuals})
  add_dependencies(pitwall_all manual_of_${target})
  string(APPEND pitwall_check "require_built(\"${PROJECT_BINARY_DIR}/manual/${target}.stamp\")\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/check_built.cmake CONTENT "function(require_built file)
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"\${file} is not built. Build all that is installed first: cmake --build ${PROJECT_BINARY_DIR} --target pitwall_all\")
  endif()
endfunction()
${pitwall_check}")
