#include "cachebisect/format/document/text.hpp"

#include <utility>

namespace cachebisect::document {
namespace {

/// Nothing of no text.
Text marked(std::string_view text, Mark mark) {
  return text.empty() ? Text() : Text(Part{std::string(text), mark});
}

}  // namespace

Text::Text(std::string text) {
  if (!text.empty()) parts_.push_back({std::move(text)});
}

Text::Text(std::string_view text) : Text(std::string(text)) {}

Text::Text(const char* text) : Text(std::string(text)) {}

Text::Text(Part part) { parts_.push_back(std::move(part)); }

Text& Text::operator+=(const Text& more) {
  for (const Part& part : more.parts_) {
    const bool joins =
        part.mark == Mark::none && !parts_.empty() && parts_.back().mark == part.mark;
    if (joins) {
      parts_.back().text += part.text;
    } else {
      parts_.push_back(part);
    }
  }
  return *this;
}

std::string Text::plain() const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.mark == Mark::below) text += ' ';
    text += part.mark == Mark::dash ? " - " : part.text;
  }
  return text;
}

Text strong(std::string_view text) { return marked(text, Mark::strong); }

Text warning(std::string_view text) { return marked(text, Mark::warning); }

Text dash() { return Text(Part{{}, Mark::dash}); }

Text bar(double share) { return Text(Part{{}, Mark::bar, share}); }

Text loss_bar(double share) { return Text(Part{{}, Mark::loss_bar, share}); }

Text named(std::string_view text) { return marked(text, Mark::name); }

Text below_it(std::string_view text) { return marked(text, Mark::below); }

Text to_copy(std::string_view text) { return marked(text, Mark::copied); }

}  // namespace cachebisect::document
