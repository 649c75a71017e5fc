# gradlab::hardening: what makes a mistake in our own C++ a crash instead of a way in. Judges read what
# hand-ins send and the runner shares its process with them, so all of it is on in every Release build,
# for the command, judges and runners; tests/attacks/hardening_test.py looks at the programs.
add_library(gradlab_hardening INTERFACE)
add_library(gradlab::hardening ALIAS gradlab_hardening)
target_compile_options(gradlab_hardening INTERFACE
  $<$<CONFIG:Release>:-fstack-protector-strong>
  $<$<CONFIG:Release>:-fstack-clash-protection>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(gradlab_hardening INTERFACE $<$<CONFIG:Release>:-fcf-protection>)
endif()
# glibc's checked copies need an optimiser: what is compiled cold (the command) goes without.
target_compile_definitions(gradlab_hardening INTERFACE
  $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:GRADLAB_COLD>>>>:_FORTIFY_SOURCE=2>)
target_link_options(gradlab_hardening INTERFACE
  $<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>)
