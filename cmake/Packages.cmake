# Debian packages by CPack; .ci/build_packages.sh builds them. docs/adr/0012-debian-packages.md says why they are as they are.
if(NOT PITWALL_BUILD_RUNTIME OR NOT PITWALL_BUILD_ANALYZER)
  return()
endif()
set(pitwall_packages ${CMAKE_CURRENT_LIST_DIR}/packages)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pitwall)
set(CPACK_PACKAGE_VENDOR "The Pitwall authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_CONTACT "The Pitwall authors <pitwall@localhost>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBEMAIL}")
  if(DEFINED ENV{DEBFULLNAME})
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
  endif()
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library development python)
if(PITWALL_HAS_GUI)
  list(APPEND CPACK_COMPONENTS_ALL viewer)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(pitwall_version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# pitwall_package(COMPONENT PACKAGE SECTION SUMMARY DESCRIPTION DEPENDS)
function(pitwall_package component package section summary description depends)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${name}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
endfunction()

set(about "Pitwall records what a training program does on its threads and devices,
finds out where its time goes, and recommends settings that make it faster.
")
pitwall_package(command pitwall devel "performance analysis of deep-learning programs"
  "${about}This package has the command: it records, imports, analyzes, compares,
exports and queries traces."
  "libpitwall0 (= ${pitwall_version})")
pitwall_package(viewer pitwall-gui devel "viewer of traces of deep-learning programs"
  "${about}This package has the viewer: a timeline, the findings, a flame graph,
tables and SQL."
  "hicolor-icon-theme, fonts-dejavu-core | fonts-liberation")
pitwall_package(library libpitwall0 libs "recorder of Pitwall as a library with a C interface"
  "${about}This package has the shared library that records within programs."
  "")
pitwall_package(development libpitwall-dev libdevel "recorder and runtime of Pitwall for C and C++"
  "${about}This package has the headers, the static libraries and the files for
find_package(pitwall) of CMake."
  "libpitwall0 (= ${pitwall_version}), libdnnl-dev, libelf-dev, libfmt-dev, libjpeg62-turbo-dev, liblzma-dev, libopenmpi-dev, libpng-dev, libsqlite3-dev, \
libtomlplusplus-dev, libwebp-dev, libzstd-dev, zlib1g-dev")
pitwall_package(python python3-pitwall python "marks of Python programs in traces of Pitwall"
  "${about}This package has the Python package: zones, iterations, counters and
tunables."
  "python3:any, libpitwall0 (>= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "pitwall-gui, python3-pitwall")
set(CPACK_DEBIAN_VIEWER_PACKAGE_SUGGESTS "pitwall")

# Scripts that remove what Python wrote beside its modules.
set(pitwall_scripts ${PROJECT_BINARY_DIR}/packages)
set(PITWALL_LIBRARY_FOLDER /usr/${CMAKE_INSTALL_LIBDIR})
configure_file(${pitwall_packages}/command.prerm.in ${pitwall_scripts}/command/prerm @ONLY)
configure_file(${pitwall_packages}/python.postinst ${pitwall_scripts}/python/postinst COPYONLY)
configure_file(${pitwall_packages}/python.prerm ${pitwall_scripts}/python/prerm COPYONLY)
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONTROL_EXTRA ${pitwall_scripts}/command/prerm)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${pitwall_scripts}/python/postinst;${pitwall_scripts}/python/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Copyright, changelogs and compressed man pages.
set(CPACK_PRE_BUILD_SCRIPTS ${pitwall_packages}/finish.cmake)
set(CPACK_PITWALL_FILES ${pitwall_packages})
set(CPACK_PITWALL_CHANGES ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
set(CPACK_PITWALL_VERSION ${pitwall_version})
set(CPACK_PITWALL_STRIP ${CMAKE_STRIP})
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  list(APPEND CPACK_PITWALL_PACKAGES ${component}=${CPACK_DEBIAN_${name}_PACKAGE_NAME})
endforeach()
include(CPack)
