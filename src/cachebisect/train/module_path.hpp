// The search path of the LibTorch module.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

inline constexpr std::string_view kTorchModuleFile = "libcachebisect_torch.so";

/// Files to try, in order. `module_path` is CACHEBISECT_MODULE_PATH: folders, or the file itself,
/// separated by colons. Then the executable's folder, ../lib and ../lib/cachebisect from there, the
/// core library's folder and cachebisect/ in it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::filesystem::path> torch_module_candidates(
    std::string_view module_path, const std::filesystem::path& executable_folder,
    const std::filesystem::path& core_folder);

/// The first of `candidates` that is a file. Throws Error(usage) that names the files tried and
/// what to do; `model` is the model that needs it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::filesystem::path find_torch_module(
    const std::vector<std::filesystem::path>& candidates, std::string_view model);

}  // namespace cachebisect
