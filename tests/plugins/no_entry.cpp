// A shared library that is not a plugin.
#include "cachebisect/base/export.hpp"

extern "C" CACHEBISECT_API int not_a_plugin() { return 1; }
