# cmake -DHOW=... -DWORK=... -DGRADLAB=... -DCOMPILER=... -DTORCH=... [-DAMP_BUILD=...]
#   [-DMONITOR_BUILD=...] [-DPROJECT=...] -P run.cmake
# Configures, builds and runs the outside project (this folder's, or PROJECT) in a fresh folder, with
# the libraries of the given builds installed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output ${output} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(common -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=RelWithDebInfo
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DGRADLAB=${GRADLAB} -DGRADLAB_TORCH=${TORCH})
set(more "")
if(AMP_BUILD)
  foreach(build ${AMP_BUILD} ${MONITOR_BUILD})
    run(${CMAKE_COMMAND} --install ${build} --prefix ${WORK}/installed)
  endforeach()
  set(more -DCMAKE_PREFIX_PATH=${WORK}/installed)
endif()
if(HOW STREQUAL "torch")
  list(APPEND more -DTorch_DIR=${CMAKE_CURRENT_LIST_DIR}/torch)
endif()
if(NOT PROJECT)
  set(PROJECT ${CMAKE_CURRENT_LIST_DIR})
endif()
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -DHOW=${HOW} ${common} ${more})
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
foreach(program outside outside_amp)
  if(EXISTS ${WORK}/build/${program})
    run(${WORK}/build/${program})
    message("${HOW} with ${COMPILER}, ${program}: ${output}")
  endif()
endforeach()
