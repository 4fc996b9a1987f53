// Elements and text of a small XML document, in their order: what servers of objects answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Reads elements and text; attributes and comments are passed over. What such answers do not have
/// is refused: document types, and with them entities of their own; CDATA. All calls throw
/// Error(data) that names the byte where the document is wrong or cut short.
class CACHEBISECT_INTERNAL_API XmlReader {
 public:
  /// `document` must outlive it.
  explicit XmlReader(std::string_view document);

  /// Enters the next element in the one that is open. Empty: there is none, and that one is closed.
  [[nodiscard]] std::optional<std::string_view> enter();
  /// The text of the element that is open, with its entities replaced; closes it.
  [[nodiscard]] std::string take_text();
  /// Closes the element that is open, whatever is in it.
  void skip();
  /// Nothing but comments may follow the outermost element, which is closed.
  void finish();

 private:
  void skip_spaces();
  void skip_behind(std::string_view end);
  /// Passes over a comment or an instruction, if one is next.
  bool skip_aside();
  std::string_view begin_tag();
  void end_tag();
  [[nodiscard]] std::string_view name();
  /// The characters of "&name;", which is next.
  [[nodiscard]] std::string entity();
  [[nodiscard]] bool starts_with(std::string_view text) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view document_;
  std::size_t at_ = 0;
  std::vector<std::string_view> open_;  ///< elements, the outermost first
  bool is_empty_ = false;               ///< the element that is open was written as <name/>
  bool has_root_ = false;
};

}  // namespace cachebisect
