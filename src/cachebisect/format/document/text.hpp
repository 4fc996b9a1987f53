// Text of a document: any words, and how they stand out. A renderer escapes them for its format.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::document {

enum class Mark {
  none,
  strong,
  warning,   ///< strong; on a terminal in a colour of its own
  dash,      ///< between the ends of an interval
  bar,       ///< on a terminal alone: a bar of `share` of the column's bars
  loss_bar,  ///< likewise, in the colour of what is lost
  name,      ///< of a stage or a setting: on a page apart from the text around it, and shortened
  below,     ///< such a name on a line of its own on a page, dimmed; elsewhere after a space
  copied,    ///< text of a cell, on a page with a button that copies it
};

struct Part {
  std::string text;
  Mark mark = Mark::none;
  double share = 0;  ///< of a bar
};

/// Words as they are, names of any origin included: nothing in them is markup.
class CACHEBISECT_INTERNAL_API Text {
 public:
  Text() = default;
  Text(std::string text);       // NOLINT(google-explicit-constructor)
  Text(std::string_view text);  // NOLINT(google-explicit-constructor)
  Text(const char* text);       // NOLINT(google-explicit-constructor)
  explicit Text(Part part);
  Text& operator+=(const Text& more);
  friend Text operator+(Text text, const Text& more) { return std::move(text += more); }

  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  [[nodiscard]] const std::vector<Part>& parts() const noexcept { return parts_; }
  /// Without marks and bars; dashes as " - ", and a space before what stands below.
  [[nodiscard]] std::string plain() const;

 private:
  std::vector<Part> parts_;  ///< none without a text, but for dashes and bars
};

[[nodiscard]] CACHEBISECT_INTERNAL_API Text strong(std::string_view text);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text warning(std::string_view text);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text dash();
/// Nothing where `share` is too small to draw. What follows it stands a space apart.
[[nodiscard]] CACHEBISECT_INTERNAL_API Text bar(double share);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text loss_bar(double share);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text named(std::string_view text);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text below_it(std::string_view text);
[[nodiscard]] CACHEBISECT_INTERNAL_API Text to_copy(std::string_view text);

}  // namespace cachebisect::document
