// Compiles a function once for plain x86-64 and once for AVX2; the loader picks.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers instrument the resolver, which runs before they are ready.
#define CACHEBISECT_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define CACHEBISECT_CLONES
#endif
