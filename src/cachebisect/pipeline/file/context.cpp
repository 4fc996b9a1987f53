#include "cachebisect/pipeline/file/context.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::spec {
namespace {

constexpr std::size_t kClip = 60;

// The option that set the value at `pointer` or at one of its parents.
const std::string* option_behind(const std::map<std::string, std::string>& overridden,
                                 std::string pointer) {
  for (;;) {
    if (const auto found = overridden.find(pointer); found != overridden.end())
      return &found->second;
    if (pointer.empty()) return nullptr;
    pointer.resize(pointer.rfind('/'));
  }
}

}  // namespace

void Context::fail(const SettingPath& at, const std::string& what) const {
  const std::string* const option = option_behind(overridden, at.pointer());
  throw Error(ErrorKind::usage,
              (option != nullptr ? "--set " + *option : origin) + ": " + place(at) + " " + what);
}

std::string Context::place(const SettingPath& at) const {
  if (at.parts().empty()) return top;
  SettingPath printable;
  for (const std::string& part : at.parts()) {
    const std::string quoted = quote(part);
    printable = printable.at(std::string_view(quoted).substr(1, quoted.size() - 2));
  }
  return printable.pointer();
}

void check_keys(const nlohmann::json& value, std::span<const std::string> known,
                const SettingPath& at, const Context& context) {
  if (!value.is_object()) context.fail(at, "must be an object {...}, not " + clipped(value));
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string hint = suggestion(key, known);
    context.fail(at.at(key),
                 "is an unknown key; " + (hint.empty() ? "no keys are known here" : hint));
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
