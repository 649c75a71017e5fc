# Stands in for LibTorch's own package, which the wheels of a CPU user cannot serve: it asks for a CUDA
# toolkit. The same names: a target `torch` and TORCH_LIBRARIES.
include(${GRADLAB}/cmake/libtorch.cmake)
add_library(torch INTERFACE IMPORTED)
# Not gradlab::torch by name, so that the library's other branch is taken, and without the compile
# options that LibTorch's package would not give either.
foreach(property INTERFACE_SYSTEM_INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES
        INTERFACE_LINK_LIBRARIES INTERFACE_LINK_OPTIONS)
  get_target_property(value gradlab_torch ${property})
  if(value)
    set_target_properties(torch PROPERTIES ${property} "${value}")
  endif()
endforeach()
set(TORCH_LIBRARIES torch)
