# Run by CPack when the files of the packages are in their folders and the packages are not made yet: adds what Debian asks
# of each package, reproducibly: times are SOURCE_DATE_EPOCH.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(pair ${CPACK_PITWALL_PACKAGES})
  string(REGEX MATCH "^([^=]+)=(.+)$" pair "${pair}")
  set(package ${CMAKE_MATCH_2})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${CMAKE_MATCH_1}/usr)
  set(doc ${root}/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(COPY ${CPACK_PITWALL_FILES}/copyright DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  if(EXISTS ${CPACK_PITWALL_FILES}/${package}.lintian)
    file(MAKE_DIRECTORY ${root}/share/lintian/overrides)
    file(COPY_FILE ${CPACK_PITWALL_FILES}/${package}.lintian ${root}/share/lintian/overrides/${package})
  endif()
  file(WRITE ${doc}/changelog.Debian "pitwall (${CPACK_PITWALL_VERSION}) bookworm; urgency=medium

  * Packages of this version; changelog.gz says what it brings.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(COPY_FILE ${CPACK_PITWALL_CHANGES} ${doc}/changelog)
  file(GLOB pages ${root}/share/man/man1/*.1)
  run(gzip -9nf ${doc}/changelog.Debian ${doc}/changelog ${pages})
  file(GLOB_RECURSE archives ${root}/lib/*.a)
  if(archives)
    run(${CPACK_PITWALL_STRIP} --strip-debug --remove-section=.comment --enable-deterministic-archives ${archives})
  endif()
  file(GLOB_RECURSE programs ${root}/bin/pitwall* ${root}/lib/*.so ${root}/lib/*.so.*)
  foreach(program ${programs})
    if(NOT IS_SYMLINK ${program})
      run(${CPACK_PITWALL_STRIP} --strip-unneeded --remove-section=.comment --remove-section=.note ${program})
    endif()
  endforeach()
  run(chmod -R u=rwX,go=rX ${root})
endforeach()
