# Headers that most sources of a target include, parsed once per target. With ccache, which must then be told
# CCACHE_SLOPPINESS=pch_defines,time_macros.
set(CACHEBISECT_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstddef> <cstdint> <cstring> <filesystem> <fstream>
  <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <stop_token> <string>
  <string_view> <thread> <tuple> <utility> <variant> <vector>)

function(cachebisect_precompile target)
  target_precompile_headers(${target} PRIVATE ${CACHEBISECT_STANDARD_HEADERS} ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # A cache of compiled files gives them back to a checkout whose headers are newer.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()
