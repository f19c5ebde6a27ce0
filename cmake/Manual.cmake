# pitwall_install_manual(PROGRAM WRITER COMPONENT): man pages and completions of shells, which WRITER makes while building, and where
# shells and man(1) look for them below the prefix.
include(GNUInstallDirs)
set(PITWALL_BASH_FOLDER ${CMAKE_INSTALL_DATADIR}/bash-completion/completions CACHE STRING "Where completions of bash are installed")
set(PITWALL_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where completions of zsh are installed")
set(PITWALL_FISH_FOLDER ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d CACHE STRING "Where completions of fish are installed")

function(pitwall_install_manual program writer component)
  set(folder ${CMAKE_BINARY_DIR}/manual/${program})
  add_custom_command(OUTPUT ${folder}.stamp COMMAND ${writer} ${folder} COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
    DEPENDS ${writer} VERBATIM)
  add_custom_target(manual_of_${program} ALL DEPENDS ${folder}.stamp)
  set_property(GLOBAL APPEND PROPERTY PITWALL_MANUALS ${program})
  install(DIRECTORY ${folder}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${folder}/bash/${program} DESTINATION ${PITWALL_BASH_FOLDER} COMPONENT ${component})
  install(FILES ${folder}/zsh/_${program} DESTINATION ${PITWALL_ZSH_FOLDER} COMPONENT ${component})
  install(FILES ${folder}/fish/${program}.fish DESTINATION ${PITWALL_FISH_FOLDER} COMPONENT ${component})
endfunction()
