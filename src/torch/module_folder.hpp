// Where this module lies, next to which lie the libraries that it opens.
#pragma once

#include <filesystem>

namespace cachebisect::torch_module {

/// The folder of this shared library. Throws Error(internal) if the loader does not know it.
std::filesystem::path module_folder();

}  // namespace cachebisect::torch_module
