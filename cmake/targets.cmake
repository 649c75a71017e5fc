# One small function per kind of target.
option(GRADLAB_WERROR "Warnings in our own code are errors" OFF)
set(GRADLAB_SANITIZE "" CACHE STRING "Sanitizers for our own code, e.g. address,undefined")

add_library(gradlab_warnings INTERFACE)
add_library(gradlab::warnings ALIAS gradlab_warnings)
target_compile_features(gradlab_warnings INTERFACE cxx_std_20)
target_link_libraries(gradlab_warnings INTERFACE gradlab::hardening)
# The first build is part of a newcomer's first minutes. The judge's loops run well at -O1; what waits
# for files and other programs is not optimised at all, which halves its build.
target_compile_options(gradlab_warnings INTERFACE
  $<$<CONFIG:Release>:$<IF:$<BOOL:$<TARGET_PROPERTY:GRADLAB_COLD>>,-O0,-O1>>)
function(gradlab_cold name)
  set_target_properties(${name} PROPERTIES GRADLAB_COLD ON)
endfunction()
target_compile_options(gradlab_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<BOOL:${GRADLAB_WERROR}>:-Werror>)
target_include_directories(gradlab_warnings INTERFACE
  ${CMAKE_SOURCE_DIR}/autograder ${CMAKE_SOURCE_DIR}/labs/common)
if(GRADLAB_SANITIZE)
  target_compile_options(gradlab_warnings INTERFACE -fsanitize=${GRADLAB_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(gradlab_warnings INTERFACE -fsanitize=${GRADLAB_SANITIZE})
endif()
find_program(MOLD mold)
if(MOLD)
  target_link_options(gradlab_warnings INTERFACE -fuse-ld=mold)
endif()

# What many files include, compiled once: one precompiled header for the rooms without LibTorch, one
# for those with it.
function(gradlab_precompiled name headers)
  add_library(${name} STATIC ${CMAKE_SOURCE_DIR}/cmake/${name}.cpp)
  target_link_libraries(${name} PUBLIC
    gradlab::warnings fmt::fmt nlohmann_json::nlohmann_json ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(${name} PRIVATE ${headers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates)
  endif()
endfunction()

function(gradlab_static name precompiled)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC gradlab::warnings fmt::fmt nlohmann_json::nlohmann_json)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(${name} REUSE_FROM ${precompiled})
endfunction()

# gradlab_library(name SOURCES...): a static library of ours.
function(gradlab_library name)
  gradlab_static(${name} gradlab_pch ${ARGN})
  gradlab_cold(${name})
endfunction()

# gradlab_torch_library(name SOURCES...): the same, with LibTorch.
function(gradlab_torch_library name)
  gradlab_static(${name} gradlab_torch_pch ${ARGN})
  target_link_libraries(${name} PUBLIC gradlab_torch_pch)
endfunction()

# gradlab_objects(name libraries include SOURCES...): objects that register themselves at program start,
# which a static library would leave out.
function(gradlab_objects name libraries include)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${include})
  target_link_libraries(${name} PUBLIC ${libraries})
  target_precompile_headers(${name} REUSE_FROM gradlab_torch_pch)
endfunction()

# gradlab_libraries(slug out): what `libraries = ["amp"]` in the lab's manifest asks for, as targets.
# Shared objects, so that a hand-in and the experiment beside it meet in one copy.
function(gradlab_libraries slug out)
  set(manifest ${CMAKE_SOURCE_DIR}/labs/${slug}/lab.toml)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manifest})
  file(READ ${manifest} text)
  string(REGEX MATCH "\nlibraries *= *\\[[^]]*\\]" entry "\n${text}")
  string(REGEX MATCHALL "\"[a-z0-9_]+\"" names "${entry}")
  string(REPLACE "\"" "" names "${names}")
  set(targets "")
  foreach(name IN LISTS names)
    if(NOT TARGET gradlab_${name}_shared)
      message(FATAL_ERROR "labs/${slug}/lab.toml: libraries names '${name}', and there is no "
                          "library reference/${name}")
    endif()
    list(APPEND targets gradlab_${name}_shared)
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# gradlab_lab(slug): everything of one lab, built on first use: its judge, its runner, and the table
# that is linked to every hand-in. All found by the slug's place; a new lab adds files and edits none.
function(gradlab_lab slug)
  file(GLOB experiments
    ${CMAKE_SOURCE_DIR}/autograder/experiments/${slug}.cpp
    ${CMAKE_SOURCE_DIR}/autograder/experiments/${slug}/*.cpp)
  file(GLOB checks
    ${CMAKE_SOURCE_DIR}/autograder/checks/${slug}.cpp
    ${CMAKE_SOURCE_DIR}/autograder/checks/${slug}/*.cpp)
  # Absent in a student's bundle; the judge then says that it has nothing to compare with.
  file(GLOB reference
    ${CMAKE_SOURCE_DIR}/reference/${slug}/answer.cpp
    ${CMAKE_SOURCE_DIR}/reference/${slug}/bugs/*.cpp)
  if(NOT experiments OR NOT checks)
    message(FATAL_ERROR "labs/${slug} has a lab.toml but no autograder/experiments/${slug}.cpp or "
                        "autograder/checks/${slug}.cpp: ./gradlab new writes the whole set")
  endif()
  set(contract ${CMAKE_SOURCE_DIR}/labs/${slug})
  gradlab_libraries(${slug} libraries)

  gradlab_objects(experiments_${slug} "gradlab_experiment;${libraries}" ${contract} ${experiments})
  gradlab_objects(checks_${slug} "gradlab_judge;${libraries}" ${contract} ${checks})
  add_executable(runner_${slug} EXCLUDE_FROM_ALL)
  target_link_libraries(runner_${slug} PRIVATE experiments_${slug} gradlab_runner)
  add_executable(judge_${slug} EXCLUDE_FROM_ALL)
  target_link_libraries(judge_${slug} PRIVATE experiments_${slug} checks_${slug} gradlab_judge)
  if(reference)
    gradlab_objects(reference_${slug} "gradlab_judge;${libraries}" ${contract} ${reference})
    target_link_libraries(judge_${slug} PRIVATE reference_${slug})
    # What a student's bundle builds; doctor proves that it needs nothing of the reference.
    add_executable(judge_${slug}_without_reference EXCLUDE_FROM_ALL)
    target_link_libraries(judge_${slug}_without_reference PRIVATE
      experiments_${slug} checks_${slug} gradlab_judge)
  endif()

  add_library(table_${slug} OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/autograder/runner/table.cpp)
  target_link_libraries(table_${slug} PRIVATE gradlab_torch_pch ${libraries})
  target_include_directories(table_${slug} PRIVATE ${contract})
  target_compile_definitions(table_${slug} PRIVATE GRADLAB_LAB_HEADER="${slug}.hpp")
  set_target_properties(table_${slug} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(table_${slug} REUSE_FROM gradlab_torch_pch)
  set(table ${CMAKE_BINARY_DIR}/tables/${slug}.o)
  add_custom_command(OUTPUT ${table}
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:table_${slug}> ${table}
    DEPENDS table_${slug} $<TARGET_OBJECTS:table_${slug}>)

  # What `debug` links a student's file to; it is not part of lab_<slug>, so checks don't wait for it.
  add_library(debug_${slug} SHARED EXCLUDE_FROM_ALL
    ${CMAKE_SOURCE_DIR}/autograder/runner/debug_main.cpp)
  target_link_libraries(debug_${slug} PRIVATE experiments_${slug} gradlab_experiment)
  set_target_properties(debug_${slug} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

  add_custom_target(lab_${slug} DEPENDS runner_${slug} judge_${slug} ${table})
endfunction()
