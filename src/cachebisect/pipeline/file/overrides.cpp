#include "cachebisect/pipeline/file/overrides.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/utf8.hpp"
#include "cachebisect/pipeline/file/json_reader.hpp"
#include "cachebisect/pipeline/file/stages.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::json;

struct Option {
  const SpecOverride& given;

  [[nodiscard]] std::string text() const {
    const std::string both = given.path + "=" + given.value;
    const std::string printable = quote(both);
    return printable.substr(1, printable.size() - 2);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::usage, "--set " + text() + ": " + what);
  }
};

std::vector<std::string> parts_of(const Option& option) {
  const auto path = SettingPath::from_dotted(option.given.path);
  if (!path)
    option.fail("a path is names separated by dots, such as stages.crop.size or batch_size");
  if (path->parts().size() > kPipelineLimits.max_depth)
    option.fail("a path is 1 to " + std::to_string(kPipelineLimits.max_depth) +
                " names separated by dots");
  return path->parts();
}

// The value as JSON, else as a string. A value that begins like an object, list or string must be
// JSON. A string that is not UTF-8 may be a path: parse_params() knows.
json value_of(const Option& option) {
  const std::string& text = option.given.value;
  if (first_invalid_utf8(option.given.path)) option.fail("not UTF-8");
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return text;
  if (std::string_view("{[\"").find(text[start]) != std::string_view::npos) {
    return read_json(text, "--set " + option.text());
  }
  if (first_invalid_utf8(text)) return text;
  try {
    return read_json(text, "");
  } catch (const Error&) {
    return text;
  }
}

std::size_t stage_index(const json& stages, const std::string& part, const Option& option) {
  const std::vector<std::string> names = stage_names(stages);
  if (const auto found = std::ranges::find(names, part); found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  if (const auto number = parse_number<std::size_t>(part)) {
    if (*number < stages.size()) return *number;
    option.fail("there is no stage " + part + "; the file has " + std::to_string(stages.size()) +
                ", counted from 0");
  }
  option.fail("there is no stage " + quote(part) + "; " + suggestion(part, names));
}

std::size_t item_index(const json& list, const std::string& part, const Option& option) {
  const auto number = parse_number<std::size_t>(part);
  if (number && *number < list.size()) return *number;
  option.fail(quote(part) + " is not a place in a list of " + std::to_string(list.size()) +
              ", counted from 0");
}

// Enters a list by number (a stage also by name) or an object by key.
json& descend(json& node, const std::string& part, SettingPath& at, const Option& option,
              const Context& context) {
  if (node.is_array()) {
    const bool stages = at == SettingPath().at("stages");
    const std::size_t index =
        stages ? stage_index(node, part, option) : item_index(node, part, option);
    at = at.at(index);
    return node[index];
  }
  if (node.is_null()) node = json::object();
  if (!node.is_object())
    option.fail(context.place(at) + " is " + clipped(node) + " and has no " + quote(part) +
                " in it");
  at = at.at(part);
  return node[part];
}

void apply(json& root, const Option& option, Context& context) {
  json value = value_of(option);
  const std::vector<std::string> parts = parts_of(option);
  const std::vector<std::string> keys = top_keys();
  if (std::ranges::find(keys, parts.front()) == keys.end()) {
    option.fail("there is no " + quote(parts.front()) + "; " + suggestion(parts.front(), keys));
  }
  if (parts.front() == "stages" && parts.size() > 1 &&
      !(root.contains("stages") && root["stages"].is_array())) {
    option.fail("the file has no list of stages");
  }
  SettingPath at;
  json* node = &root;
  for (const std::string& part : parts) node = &descend(*node, part, at, option, context);
  *node = std::move(value);
  context.overridden[at.pointer()] = option.text();
}

}  // namespace

void apply_overrides(json& root, const std::vector<SpecOverride>& overrides, Context& context) {
  if (overrides.empty()) return;
  if (!root.is_object()) context.fail({}, "must hold an object {...}, not " + clipped(root));
  for (const SpecOverride& given : overrides) apply(root, Option{given}, context);
}

}  // namespace cachebisect::spec
