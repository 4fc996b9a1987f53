#include "cachebisect/pipeline/file/context.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::spec {
namespace {

constexpr std::size_t kClip = 60;

// The option that wrote to `pointer` or to something that holds it.
const std::string* option_behind(const std::map<std::string, std::string>& overridden,
                                 std::string pointer) {
  for (;;) {
    if (const auto found = overridden.find(pointer); found != overridden.end())
      return &found->second;
    if (pointer.empty()) return nullptr;
    pointer.resize(pointer.rfind('/'));
  }
}

// A key as part of a pointer: printable, short.
std::string token_of(std::string_view key) {
  std::string text = quote(key);
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (const char c : text) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Pointer Pointer::at(std::string_view key) const {
  Pointer below = *this;
  below.text_ += '/' + token_of(key);
  return below;
}

Pointer Pointer::at(std::size_t index) const {
  Pointer below = *this;
  below.text_ += '/' + std::to_string(index);
  return below;
}

void Context::fail(const Pointer& at, const std::string& what) const {
  const std::string* const option = option_behind(overridden, at.text());
  const std::string where = at.text().empty() ? "the file" : at.text();
  throw Error(ErrorKind::usage,
              (option != nullptr ? "--set " + *option : origin) + ": " + where + " " + what);
}

void check_keys(const nlohmann::json& value, std::span<const std::string> known, const Pointer& at,
                const Context& context) {
  if (!value.is_object()) context.fail(at, "must be an object {...}, not " + clipped(value));
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string hint = suggestion(key, known);
    context.fail(at.at(key), "is an unknown key; " + (hint.empty() ? "there are none here" : hint));
  }
}

std::string clipped(const nlohmann::json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_structured() && value.size() > 16) return value.is_array() ? "[...]" : "{...}";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kClip) text = text.substr(0, kClip) + "...";
  return text;
}

}  // namespace cachebisect::spec
