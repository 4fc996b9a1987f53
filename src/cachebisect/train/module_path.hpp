// Where the LibTorch module is sought.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

inline constexpr std::string_view kTorchModuleFile = "libcachebisect_torch.so";

/// Files to try, in order. `module_path` is CACHEBISECT_MODULE_PATH: folders, or the file itself,
/// separated by colons; then beside the executable, in ../lib and ../lib/cachebisect seen from
/// there, beside the core library and in cachebisect/ beside it.
[[nodiscard]] CACHEBISECT_API std::vector<std::filesystem::path> torch_module_candidates(
    std::string_view module_path, const std::filesystem::path& executable_folder,
    const std::filesystem::path& core_folder);

/// The first of `candidates` that is a file. Throws Error(usage) that names the folders and what to
/// do; `model` is the model that needs it.
[[nodiscard]] CACHEBISECT_API std::filesystem::path find_torch_module(
    const std::vector<std::filesystem::path>& candidates, std::string_view model);

}  // namespace cachebisect
