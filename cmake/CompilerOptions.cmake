# Warnings and sanitizers for every target that links cachebisect_options.
add_library(cachebisect_options INTERFACE)
target_compile_options(cachebisect_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  # GCC 12 warns about members that a designated initialiser leaves at their default.
  -Wno-missing-field-initializers>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CACHEBISECT_WERROR}>>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives at -O3: operator+ and replace() of std::string (GCC bug 105651), <=> of byte vectors,
  # std::optional (GCC bug 80635).
  target_compile_options(cachebisect_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overread -Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Embedded files (cmake/embed_text.cmake) are longer than compilers must support.
  target_compile_options(cachebisect_options INTERFACE
    # GCC's -Wconversion does not warn of signs in C++.
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-overlength-strings -Wno-sign-conversion>)
endif()
if(CACHEBISECT_SANITIZE)
  target_compile_options(cachebisect_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CACHEBISECT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  # Programs too that have no other options of ours: Clang links the runtime into the program alone.
  add_link_options(-fsanitize=${CACHEBISECT_SANITIZE})
  # NVML's functions take structures of its own; ours have their layout (device/nvml).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(cachebisect_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=function>)
    # Checks make functions larger than what is worth inlining; without it, they compile in two thirds of the time.
    target_compile_options(cachebisect_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-mllvm -inline-threshold=0>")
  endif()
  # False positive on std::regex under AddressSanitizer (GCC bug 105562).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cachebisect_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()
