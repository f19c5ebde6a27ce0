# Install and export: public headers, libraries as pitwall::NAME, rules, the command.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(pitwall_libraries GLOBAL PROPERTY PITWALL_LIBRARIES)
install(TARGETS ${pitwall_libraries} EXPORT pitwallTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

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
  install(FILES ${pitwall_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/${folder})
endforeach()
if(PITWALL_BUILD_RUNTIME)
  file(GLOB pitwall_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/operators/*.h)
  install(FILES ${pitwall_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/runtime/operators)
  install(FILES ${PROJECT_BINARY_DIR}/include/runtime/operator_list.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pitwall/runtime)
endif()

if(PITWALL_BUILD_ANALYZER)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/rules/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pitwall/rules
    FILES_MATCHING PATTERN "*.toml")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(pitwall_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pitwall)
install(EXPORT pitwallTargets NAMESPACE pitwall:: DESTINATION ${pitwall_config_folder})
if(PITWALL_BUILD_RUNTIME)
  install(EXPORT pitwallCTargets NAMESPACE pitwall:: DESTINATION ${pitwall_config_folder})
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pitwallConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfig.cmake INSTALL_DESTINATION ${pitwall_config_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/pitwallConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/pitwallConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallDnnl.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindPitwallElf.cmake
  DESTINATION ${pitwall_config_folder})
