# Several files compiled as one save the headers that they share: half of the time. Where PITWALL_UNITY is on, as in the
# presets release, asan and tsan, libraries and tests are built so. Elsewhere each file is compiled alone;
# .ci/check_sources.py holds that it includes what it uses.

# A class there has members of local types, of which GCC warns outside a main file.
set(PITWALL_COMPILED_ALONE "sample/gpu_sampler.cpp")

# pitwall_unity_build(target files): as many files in one.
function(pitwall_unity_build target files)
  get_target_property(alone ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(TRANSFORM alone PREPEND ${folder}/ REGEX "^[^/]")
  list(FILTER alone INCLUDE REGEX "${PITWALL_COMPILED_ALONE}")
  set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
endfunction()
