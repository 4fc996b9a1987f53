# Warnings and sanitizers that every target of ours takes by linking cachebisect_options.
add_library(cachebisect_options INTERFACE)
target_compile_options(cachebisect_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CACHEBISECT_WERROR}>>:-Werror>)
if(CACHEBISECT_SANITIZE)
  target_compile_options(cachebisect_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CACHEBISECT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(cachebisect_options INTERFACE -fsanitize=${CACHEBISECT_SANITIZE})
endif()
