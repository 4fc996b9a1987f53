// For authors of plugins: a shared library with your own stages or training steps.
//
//     #include <cachebisect/pipeline/plugin.hpp>
//     static void register_mine(cachebisect::Registry& registry) { registry.add(...); }
//     CACHEBISECT_PLUGIN(register_mine)
#pragma once

#include <version>

#include "cachebisect/base/version.hpp"
#include "cachebisect/pipeline/registry.hpp"

#define CACHEBISECT_STRINGIFY_VALUE(x) #x
#define CACHEBISECT_STRINGIFY(x) CACHEBISECT_STRINGIFY_VALUE(x)

#if defined(__clang__)
#define CACHEBISECT_COMPILER "clang " CACHEBISECT_STRINGIFY(__clang_major__)
#else
#define CACHEBISECT_COMPILER "gcc " CACHEBISECT_STRINGIFY(__GNUC__)
#endif

#if defined(_GLIBCXX_DEBUG)
#define CACHEBISECT_CXX_LIBRARY "libstdc++ debug"
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define CACHEBISECT_CXX_LIBRARY "libstdc++ cxx11=" CACHEBISECT_STRINGIFY(_GLIBCXX_USE_CXX11_ABI)
#else
#define CACHEBISECT_CXX_LIBRARY "libc++"
#endif

/// What core and plugin must have in common: core version, compiler, C++ ABI.
#define CACHEBISECT_PLUGIN_ABI                                 \
  "cachebisect " CACHEBISECT_VERSION ", " CACHEBISECT_COMPILER \
  ", abi " CACHEBISECT_STRINGIFY(__GXX_ABI_VERSION) ", " CACHEBISECT_CXX_LIBRARY

/// Defines the plugin's entry point. `register_fn` is a void(cachebisect::Registry&).
#define CACHEBISECT_PLUGIN(register_fn)                                                         \
  extern "C" CACHEBISECT_API const ::cachebisect::PluginEntry* cachebisect_plugin() {           \
    static constexpr ::cachebisect::PluginEntry kEntry{CACHEBISECT_PLUGIN_ABI, &(register_fn)}; \
    return &kEntry;                                                                             \
  }
