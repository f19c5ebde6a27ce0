# oneDNN as pitwall_dnnl. Debian's dnnl-config.cmake requires the OpenCL headers, which only its GPU interface needs, so
# it is not used.
if(NOT TARGET pitwall_dnnl)
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
  find_library(DNNL_LIBRARY dnnl REQUIRED)
  add_library(pitwall_dnnl INTERFACE IMPORTED)
  target_include_directories(pitwall_dnnl INTERFACE ${DNNL_INCLUDE_DIR})
  target_link_libraries(pitwall_dnnl INTERFACE ${DNNL_LIBRARY})
endif()
