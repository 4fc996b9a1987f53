// The elements that the sections of the page are made of.
#pragma once

#include <string_view>

#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// A part of the page under a heading of its own.
[[nodiscard]] Html section(std::string_view id, std::string_view heading, const Html& content);
[[nodiscard]] Html section(std::string_view id, const Html& heading, const Html& content);

[[nodiscard]] Html paragraph(std::string_view text);
/// For a remark on what is above it.
[[nodiscard]] Html note(std::string_view words);
/// The name of a stage, a file, a setting: short, and apart from the text around it.
[[nodiscard]] Html name(std::string_view name);
/// A figure in a cell; words in its place, such as kNotMeasured, are dimmed.
[[nodiscard]] Html figure(std::string_view figure);
/// Text to copy, with a button.
[[nodiscard]] Html copyable(std::string_view copied, std::string_view button = "Copy");

}  // namespace cachebisect::html
