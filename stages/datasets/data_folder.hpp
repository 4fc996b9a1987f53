// Finds the files of a data set under the path that the user gave.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "stages/datasets/generated_folder.hpp"

namespace cachebisect::stages {

/// Generates the set at `path` if nothing is there and `generate` is true. Throws Error(data) with
/// the remedy if nothing is there and `generate` is false.
void require_data(const std::string& path, bool generate, const GeneratedSet& set);

/// `folder`, or the first of its `subfolders` (which archives unpack to) that has a file with one
/// of the `names`; `folder` if none has.
std::string find_data_folder(const std::string& folder,
                             std::initializer_list<std::string_view> subfolders,
                             std::initializer_list<std::string_view> names);

/// For errors about the content of `path`: the remedy if it is a generated set, otherwise "".
std::string regenerate_hint(const std::string& path);

}  // namespace cachebisect::stages
