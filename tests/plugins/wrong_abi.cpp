// A plugin built for another version: its register function must never be called.
#include <cstdlib>

#include "cachebisect/pipeline/plugin.hpp"

static void register_never(cachebisect::Registry&) { std::abort(); }

extern "C" CACHEBISECT_API const cachebisect::PluginEntry* cachebisect_plugin() {
  static constexpr cachebisect::PluginEntry kEntry{"cachebisect 0.0.0, gcc 4", &register_never};
  return &kEntry;
}
