// The answer of a command on standard output, and one file next to it.
#pragma once

#include <functional>
#include <string_view>

#include "output/output_file.hpp"

namespace cachebisect::cli {

/// The content of a file next to the answer.
struct SideFile {
  OutputFile* output = nullptr;  ///< null: there is none
  std::string_view content;
};

/// A regular file first, because standard output and other streams may block; `before_streams` is
/// called between the two. Throws Error(output) after trying all.
void write_answer(std::string_view answer, const SideFile& file,
                  const std::function<void()>& before_streams);

}  // namespace cachebisect::cli
