// Lists the image files of a folder with one subfolder per class, like torchvision's ImageFolder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stages/datasets/file_list.hpp"

#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// Lists the files under `root` whose names end in one of the `extensions` (lower case, with the
/// dot; case is ignored). Classes are the folders of `root` sorted by name; within a class, files
/// of all depths are in natural order. Hidden files and folders, whose names begin with a dot, are
/// left out. Links are followed. Throws Error(data) for a folder that cannot be read, a loop of
/// links, a broken link, an image's name on something that is not a regular file, no class at all,
/// or a class without images; Error(interrupted) when the context's stop is requested.
FileList list_image_folder(const std::string& root, std::span<const std::string> extensions,
                           const OpenContext& context);

/// Whether a file's name ends in one of the `extensions`, and has more than that.
[[nodiscard]] bool has_extension(std::string_view name, std::span<const std::string> extensions);
/// Throws Error(data) for a class without images.
[[noreturn]] void refuse_class(const std::string& folder, std::span<const std::string> extensions);

}  // namespace cachebisect::stages
