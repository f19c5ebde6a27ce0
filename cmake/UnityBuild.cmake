# Several files compiled as one halve the time of a build that exists only for its tests. In every other build each file
# is compiled alone, so that it includes what it uses.

# Files of a kind that use the same local names: a table of settings, the kernel of an operator, tests.
set(PITWALL_COMPILED_ALONE "/db/settings/|/runtime/operators/|/runtime/backend/(onednn|reference)/|_test[.]cpp$")

function(pitwall_unity_build target)
  get_target_property(alone ${target} SOURCES)
  list(FILTER alone INCLUDE REGEX "${PITWALL_COMPILED_ALONE}")
  set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()
