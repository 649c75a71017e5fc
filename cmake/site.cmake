# The target `site`: handouts and the API as pages, in BUILD/site. Never part of `all`.
add_custom_target(site
  COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/handouts/site/build.py ${CMAKE_BINARY_DIR}/site
  USES_TERMINAL VERBATIM)
