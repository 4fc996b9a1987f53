// Compiles a function both for plain x86-64 and for AVX2; the loader picks one.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Not with sanitizers: they instrument the resolver, which runs before they are ready.
#define CACHEBISECT_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define CACHEBISECT_CLONES
#endif
