# The version is the first "## x.y.z" heading of CHANGELOG.md, so the two cannot differ.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md pitwall_headings REGEX "^## [0-9]+\\.[0-9]+\\.[0-9]+")
if(NOT pitwall_headings)
  message(FATAL_ERROR "CHANGELOG.md has no heading of the form '## 1.2.3'")
endif()
list(GET pitwall_headings 0 pitwall_heading)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" PITWALL_VERSION "${pitwall_heading}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md)
