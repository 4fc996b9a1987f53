# Warnings and sanitizers for every target that links cachebisect_options.
add_library(cachebisect_options INTERFACE)
target_compile_options(cachebisect_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  # GCC 12 warns about members that a designated initialiser leaves at their default.
  -Wno-missing-field-initializers>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CACHEBISECT_WERROR}>>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives at -O3: std::string's operator+ (GCC bug 105651), <=> of byte vectors,
  # std::optional (GCC bug 80635).
  target_compile_options(cachebisect_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overread -Wno-maybe-uninitialized>)
endif()
if(CACHEBISECT_SANITIZE)
  target_compile_options(cachebisect_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CACHEBISECT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(cachebisect_options INTERFACE -fsanitize=${CACHEBISECT_SANITIZE})
  # False positive on std::regex under AddressSanitizer (GCC bug 105562).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cachebisect_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()
