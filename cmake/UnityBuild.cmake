# Several files compiled as one save the headers that they share. Tests are built so where PITWALL_UNITY_TESTS is on, as in
# the presets release, asan and tsan; the libraries where the build exists only for its tests. In every other build each
# file is compiled alone, so that it includes what it uses.

# Files of a kind that use the same local names: the kernel of an operator.
set(PITWALL_COMPILED_ALONE "/runtime/operators/|/runtime/backend/(onednn|reference)/")

# pitwall_unity_build(target files): as many files in one.
function(pitwall_unity_build target files)
  get_target_property(alone ${target} SOURCES)
  list(FILTER alone INCLUDE REGEX "${PITWALL_COMPILED_ALONE}")
  set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
endfunction()
