# Headers that most sources of a target include, parsed once per target. With ccache, which must then be told
# CCACHE_SLOPPINESS=pch_defines,time_macros and CCACHE_PCH_EXTSUM=1.
set(CACHEBISECT_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstddef> <cstdint> <cstring> <filesystem> <fstream>
  <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <stop_token> <string>
  <string_view> <thread> <tuple> <utility> <variant> <vector>)

# A compiler writes another precompiled header each time. This is a checksum of what it was made from, by which ccache finds
# what was compiled with an earlier one.
function(cachebisect_sum_precompiled target headers)
  list(TRANSFORM headers PREPEND "#include ")
  list(JOIN headers "\n" text)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir)
  file(WRITE ${folder}/precompiled.txt "${text}\n")
  set(includes ${NLOHMANN_JSON_INCLUDE_DIR} ${CLI11_INCLUDE_DIR} ${DOCTEST_INCLUDE_DIR})
  list(TRANSFORM includes PREPEND "-I")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${includes} -E -P -x c++ ${folder}/precompiled.txt
    OUTPUT_VARIABLE preprocessed COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${preprocessed}")
  foreach(extension gch pch)
    file(WRITE ${folder}/cmake_pch.hxx.${extension}.sum ${sum})
  endforeach()
endfunction()

function(cachebisect_precompile target)
  set(headers ${CACHEBISECT_STANDARD_HEADERS} ${ARGN})
  target_precompile_headers(${target} PRIVATE ${headers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # A cache of compiled files gives them back to a checkout whose headers are newer.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    cachebisect_sum_precompiled(${target} "${headers}")
  endif()
endfunction()
