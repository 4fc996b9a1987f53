// Finding the files of a data set below the path that a user gave.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "stages/datasets/generated_folder.hpp"

namespace cachebisect::stages {

/// Generates the set at `path` when nothing is there and `generate` says so. Throws Error(data)
/// with the remedy when nothing is there otherwise.
void require_data(const std::string& path, bool generate, const GeneratedSet& set);

/// `folder`, or the first of its `subfolders` (where archives unpack to) that holds a file of one
/// of the `names`; `folder` when none does.
std::string find_data_folder(const std::string& folder,
                             std::initializer_list<std::string_view> subfolders,
                             std::initializer_list<std::string_view> names);

/// For errors about the content of `path`: what to do when we had generated it ourselves, else "".
std::string regenerate_hint(const std::string& path);

}  // namespace cachebisect::stages
