# gradlab::torch: libtorch_cpu and libc10 as an imported target. find_package(Torch) is no base for
# a CPU user: a CUDA wheel's configuration asks for a CUDA toolkit. The place comes from
# -DGRADLAB_TORCH, or from .gradlab/toolchain, which the set-up writes.
set(GRADLAB_TORCH "" CACHE PATH "The torch folder that holds include/ and lib/")
set(toolchain_file ${CMAKE_SOURCE_DIR}/.gradlab/toolchain)
set(torch_root ${GRADLAB_TORCH})
set(torch_cuda_libs "")
if(NOT torch_root AND EXISTS ${toolchain_file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${toolchain_file})
  file(STRINGS ${toolchain_file} lines)
  foreach(line IN LISTS lines)
    if(line MATCHES "^TORCH=(.*)$")
      set(torch_root ${CMAKE_MATCH_1})
    elseif(line MATCHES "^CUDA_LIBS=(.*)$")
      set(torch_cuda_libs ${CMAKE_MATCH_1})
    endif()
  endforeach()
endif()
if(NOT EXISTS ${torch_root}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "No LibTorch found. Run ./gradlab setup: it fetches LibTorch, "
                      "or pass -DGRADLAB_TORCH=/path/to/torch.")
endif()
if(NOT torch_cuda_libs)
  file(GLOB torch_cuda_libs ${torch_root}/../nvidia/cu*/lib)
endif()

add_library(gradlab_torch INTERFACE)
add_library(gradlab::torch ALIAS gradlab_torch)
target_include_directories(gradlab_torch SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
# LibTorch is built with g++: since clang 18 a constrained template such as const_data_ptr<float>()
# mangles by another rule.
target_compile_options(gradlab_torch INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-fclang-abi-compat=17>)
target_link_libraries(gradlab_torch INTERFACE
  ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so)
target_link_options(gradlab_torch INTERFACE
  "LINKER:-rpath,${torch_root}/lib" "LINKER:--allow-shlib-undefined")
foreach(dir IN LISTS torch_cuda_libs)
  target_link_options(gradlab_torch INTERFACE "LINKER:-rpath-link,${dir}" "LINKER:-rpath,${dir}")
endforeach()
