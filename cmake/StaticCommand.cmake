# CACHEBISECT_STATIC: the command alone, without libraries of its own, so that it can be copied.
# Linked statically as a whole it needs nothing but a kernel; a compiler without static system
# libraries (Fedora, RHEL) links those of the system, and the command then needs a glibc as new.
if(CACHEBISECT_BUILD_TESTS OR CACHEBISECT_BUILD_EXAMPLES OR CACHEBISECT_WITH_TORCH OR CACHEBISECT_WITH_OPENCV)
  message(FATAL_ERROR "CACHEBISECT_STATIC=ON builds the command alone, which loads no libraries: set "
    "CACHEBISECT_BUILD_TESTS, CACHEBISECT_BUILD_EXAMPLES, CACHEBISECT_WITH_TORCH and CACHEBISECT_WITH_OPENCV to OFF")
endif()
include(CheckCXXSourceRuns)
# Threads too: some versions of glibc link them statically, but crash at run time.
set(uses_threads "#include <thread>\nint main() { std::jthread([] {}).join(); }")
function(check_links variable)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${ARGN})
  set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
  check_cxx_source_runs("${uses_threads}" ${variable})
endfunction()

set(CMAKE_SKIP_RPATH ON)
check_links(CACHEBISECT_LINKS_STATIC -static)
if(CACHEBISECT_LINKS_STATIC)
  add_link_options(-static)
  return()
endif()
check_links(CACHEBISECT_LINKS_STATIC_LIBSTDCXX -static-libstdc++ -static-libgcc)
if(CACHEBISECT_LINKS_STATIC_LIBSTDCXX)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
