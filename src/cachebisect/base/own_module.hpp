// Modules of this project that are opened at run time, because what they link costs every start.
#pragma once

#include <memory>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect {

/// Opens `file` ("libcachebisect_imgcodecs.so"), searched in CACHEBISECT_MODULE_PATH, then next to
/// the core library and in its folder cachebisect; it is never unloaded. Throws Error(usage) with
/// the remedy if it is not found, or has no `function`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<const SharedLibrary> open_own_module(
    const std::string& file, const std::string& function);

}  // namespace cachebisect
