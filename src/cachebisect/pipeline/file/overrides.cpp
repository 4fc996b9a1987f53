#include "cachebisect/pipeline/file/overrides.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
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

std::vector<std::string> split(const Option& option) {
  std::vector<std::string> parts;
  const std::string_view path = option.given.path;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    if (dot == start)
      option.fail("a path is names with dots between, as stages.crop.size or batch_size");
    parts.emplace_back(path.substr(start, dot - start));
    start = dot + 1;
  }
  if (parts.empty() || parts.size() > kMaxDepth)
    option.fail("a path is 1 to " + std::to_string(kMaxDepth) + " names with dots between");
  return parts;
}

// JSON where it is JSON, else a string; what begins as an object, list or string must be JSON.
json value_of(const Option& option) {
  const std::string& text = option.given.value;
  if (first_invalid_utf8(option.given.path + text)) option.fail("not UTF-8");
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return text;
  if (std::string_view("{[\"").find(text[start]) != std::string_view::npos) {
    return read_json(text, "--set " + option.text());
  }
  try {
    return read_json(text, "");
  } catch (const Error&) {
    return text;
  }
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::size_t stage_index(const json& stages, const std::string& part, const Option& option) {
  const std::vector<std::string> names = stage_names(stages);
  if (const auto found = std::ranges::find(names, part); found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  if (const auto number = number_of(part)) {
    if (*number < stages.size()) return *number;
    option.fail("there is no stage " + part + "; the file has " + std::to_string(stages.size()) +
                ", counted from 0");
  }
  option.fail("there is no stage " + quote(part) + "; " + suggestion(part, names));
}

std::size_t item_index(const json& list, const std::string& part, const Option& option) {
  const auto number = number_of(part);
  if (number && *number < list.size()) return *number;
  option.fail(quote(part) + " is no place in a list of " + std::to_string(list.size()) +
              ", counted from 0");
}

// One step down: into a list by number (a stage also by name), into an object by key.
json& descend(json& node, const std::string& part, Pointer& at, const Option& option) {
  if (node.is_array()) {
    const bool stages = at.text() == "/stages";
    const std::size_t index =
        stages ? stage_index(node, part, option) : item_index(node, part, option);
    at = at.at(index);
    return node[index];
  }
  if (node.is_null()) node = json::object();
  if (!node.is_object())
    option.fail(at.text() + " is " + clipped(node) + " and has no " + quote(part) + " in it");
  at = at.at(part);
  return node[part];
}

void apply(json& root, const Option& option, Context& context) {
  json value = value_of(option);
  const std::vector<std::string> parts = split(option);
  const std::vector<std::string> keys = top_keys();
  if (std::ranges::find(keys, parts.front()) == keys.end()) {
    option.fail("there is no " + quote(parts.front()) + "; " + suggestion(parts.front(), keys));
  }
  if (parts.front() == "stages" && parts.size() > 1 &&
      !(root.contains("stages") && root["stages"].is_array())) {
    option.fail("the file has no list of stages");
  }
  Pointer at;
  json* node = &root;
  for (const std::string& part : parts) node = &descend(*node, part, at, option);
  *node = std::move(value);
  context.overridden[at.text()] = option.text();
}

}  // namespace

void apply_overrides(json& root, const std::vector<SpecOverride>& overrides, Context& context) {
  if (overrides.empty()) return;
  if (!root.is_object()) context.fail({}, "must hold an object {...}, not " + clipped(root));
  for (const SpecOverride& given : overrides) apply(root, Option{given}, context);
}

}  // namespace cachebisect::spec
