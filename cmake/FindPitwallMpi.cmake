# MPI, optional: pitwall_mpi, its C interface. Also used by the installed package, for which the same one must be found.
if(NOT TARGET pitwall_mpi)
  find_path(PITWALL_MPI_INCLUDE_DIR mpi.h
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpi)
  find_library(PITWALL_MPI_LIBRARY mpi)
  if(PITWALL_MPI_INCLUDE_DIR AND PITWALL_MPI_LIBRARY)
    add_library(pitwall_mpi INTERFACE IMPORTED)
    target_include_directories(pitwall_mpi INTERFACE ${PITWALL_MPI_INCLUDE_DIR})
    target_link_libraries(pitwall_mpi INTERFACE ${PITWALL_MPI_LIBRARY})
    target_compile_definitions(pitwall_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  endif()
endif()
