// Checks of parameter values against their declarations.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect {
namespace {

std::string range_text(const ParamSpec& spec) {
  const std::string low = spec.minimum ? format_exact(*spec.minimum) : "";
  const std::string high = spec.maximum ? format_exact(*spec.maximum) : "";
  if (spec.minimum && spec.maximum) {
    return (spec.exclusive_minimum ? " above " + low + " up to " : " from " + low + " to ") + high;
  }
  if (spec.minimum) return (spec.exclusive_minimum ? " above " : " of at least ") + low;
  return spec.maximum ? " of at most " + high : "";
}

std::string items_text(const ParamSpec& spec) {
  const bool bounded = spec.max_items != SIZE_MAX;
  if (bounded && spec.min_items == spec.max_items) return std::to_string(spec.min_items) + " ";
  if (bounded)
    return std::to_string(spec.min_items) + " to " + std::to_string(spec.max_items) + " ";
  return spec.min_items > 0 ? std::to_string(spec.min_items) + " or more " : "";
}

std::string choices_text(const ParamSpec& spec) {
  std::string out = "one of ";
  for (const std::string& choice : spec.choices) {
    if (out.size() > 7) out += ", ";
    out += '"' + choice + '"';
  }
  return out;
}

bool in_range(const ParamSpec& spec, double value) {
  if (!std::isfinite(value)) return false;
  if (spec.minimum && (spec.exclusive_minimum ? value <= *spec.minimum : value < *spec.minimum))
    return false;
  return !spec.maximum || value <= *spec.maximum;
}

bool right_choice(const ParamSpec& spec, const std::string& value) {
  return spec.choices.empty() || std::ranges::find(spec.choices, value) != spec.choices.end();
}

bool right_count(const ParamSpec& spec, std::size_t items) {
  return items >= spec.min_items && items <= spec.max_items;
}

bool right_number(const ParamSpec& spec, const ParamValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return in_range(spec, static_cast<double>(*whole));
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && spec.type == ParamType::number && in_range(spec, *number);
}

bool right_numbers(const ParamSpec& spec, const ParamValue& value) {
  const auto* list = std::get_if<std::vector<double>>(&value);
  return list != nullptr && right_count(spec, list->size()) &&
         std::ranges::all_of(*list, [&](double item) { return in_range(spec, item); });
}

bool right_strings(const ParamSpec& spec, const ParamValue& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return list != nullptr && right_count(spec, list->size()) &&
         std::ranges::all_of(*list, [&](const auto& item) { return right_choice(spec, item); });
}

bool is_right(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.type) {
    case ParamType::boolean:
      return std::holds_alternative<bool>(value);
    case ParamType::integer:
    case ParamType::number:
      return right_number(spec, value);
    case ParamType::string:
    case ParamType::path: {
      const auto* text = std::get_if<std::string>(&value);
      return text != nullptr && right_choice(spec, *text);
    }
    case ParamType::number_list:
      return right_numbers(spec, value);
    case ParamType::string_list:
      return right_strings(spec, value);
    case ParamType::jitter:
      break;
  }
  return true;
}

std::string value_text(const ParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return format_exact(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  const std::size_t count =
      numbers != nullptr ? numbers->size() : std::get<std::vector<std::string>>(value).size();
  std::string out = "[";
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 8); ++i) {
    if (i > 0) out += ", ";
    out += numbers != nullptr ? format_exact((*numbers)[i])
                              : quote(std::get<std::vector<std::string>>(value)[i]);
  }
  return out + (count > 8 ? ", ...]" : "]");
}

}  // namespace

std::string describe_accepted(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamType::boolean:
      return "true or false";
    case ParamType::integer:
      return "an integer" + range_text(spec);
    case ParamType::number:
      return "a number" + range_text(spec);
    case ParamType::string:
      return spec.choices.empty() ? "a string" : choices_text(spec);
    case ParamType::path:
      return "a path";
    case ParamType::number_list:
      return "a list of " + items_text(spec) + "numbers" +
             (range_text(spec).empty() ? "" : ", each" + range_text(spec));
    case ParamType::string_list:
      return "a list of " + items_text(spec) + "strings" +
             (spec.choices.empty() ? "" : ", each " + choices_text(spec));
    case ParamType::jitter:
      break;
  }
  return R"({"kind": "none"|"lognormal"|"pareto", "cv": number from 0 to )" +
         format_exact(kMaxJitterCv) + "}";
}

std::optional<std::string> violation(const ParamSpec& spec, const ParamValue& value) {
  if (is_right(spec, value)) return std::nullopt;
  return "must be " + describe_accepted(spec) + ", not " + value_text(value);
}

Params complete_params(const std::vector<ParamSpec>& specs, Params given) {
  std::vector<std::string> known;
  known.reserve(specs.size());
  for (const ParamSpec& spec : specs) known.push_back(spec.name);
  for (const auto& [name, value] : given.values()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(ErrorKind::usage,
                "unknown parameter " + quote(name) + "; " + suggestion(name, known));
  }
  for (const ParamSpec& spec : specs) {
    if (spec.type == ParamType::jitter) {
      given.set_jitter(given.jitter());
    } else if (const auto found = given.values().find(spec.name); found != given.values().end()) {
      if (const auto wrong = violation(spec, found->second))
        throw Error(ErrorKind::usage, "parameter " + quote(spec.name) + " " + *wrong);
    } else if (spec.default_value) {
      given.set(spec.name, *spec.default_value);
    } else if (!spec.optional) {
      throw Error(ErrorKind::usage,
                  "parameter " + quote(spec.name) + " is missing: " + describe_accepted(spec));
    }
  }
  return given;
}

}  // namespace cachebisect
