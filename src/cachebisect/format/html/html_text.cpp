#include "cachebisect/format/html/html_text.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/utf8.hpp"

namespace cachebisect::html {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escaped_line(std::string_view text, std::size_t characters) {
  return escaped(printable(shortened(text, characters)));
}

}  // namespace

std::string shortened(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < characters && end < text.size(); ++i) {
    end += std::max<std::size_t>(1, utf8_length(text, end));
  }
  if (end >= text.size()) return std::string(text);
  return std::string(text.substr(0, end)) + "...";
}

Html text(std::string_view text, std::size_t characters) {
  return Html::ours(escaped_line(text, characters));
}

Html element(std::string_view tag, Attributes attributes, const Html& content) {
  std::string source = "<" + std::string(tag);
  for (const auto& [name, value] : attributes) {
    source += " " + std::string(name) + "=\"" + escaped_line(value, kMaxCharacters) + "\"";
  }
  source += ">" + content.source() + "</" + std::string(tag) + ">";
  return Html::ours(std::move(source));
}

Html element(std::string_view tag, const Html& content) { return element(tag, {}, content); }

Html element(std::string_view tag, std::string_view content) {
  return element(tag, {}, text(content));
}

Html json_text(const nlohmann::ordered_json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return Html::ours(std::move(out));
}

}  // namespace cachebisect::html
