#include "cachebisect/pipeline/file/param_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/utf8.hpp"
#include "cachebisect/pipeline/file/paths.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// As in JSON Schema, 32.0 and 3.2e1 are integers too.
std::optional<ParamValue> integer_of(const json& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (std::abs(number) > kExact || number != std::trunc(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

template <class T>
std::optional<ParamValue> list_of(const json& value, bool (json::*is_item)() const noexcept) {
  if (!value.is_array()) return std::nullopt;
  std::vector<T> items;
  for (const json& item : value) {
    if (!(item.*is_item)()) return std::nullopt;
    items.push_back(item.get<T>());
  }
  return items;
}

// The value in the declared type; empty if it has another type.
std::optional<ParamValue> convert(const json& value, ParamType type) {
  switch (type) {
    case ParamType::boolean:
      return value.is_boolean() ? std::optional<ParamValue>(value.get<bool>()) : std::nullopt;
    case ParamType::integer:
      return integer_of(value);
    case ParamType::number:
      return value.is_number() ? std::optional<ParamValue>(value.get<double>()) : std::nullopt;
    case ParamType::string:
    case ParamType::path:
      return value.is_string() ? std::optional<ParamValue>(value.get<std::string>()) : std::nullopt;
    case ParamType::number_list:
      return list_of<double>(value, &json::is_number);
    case ParamType::string_list:
      return list_of<std::string>(value, &json::is_string);
    case ParamType::jitter:
      break;
  }
  return std::nullopt;
}

bool is_utf8(const json& value) {
  if (value.is_array()) return std::ranges::all_of(value, is_utf8);
  return !value.is_string() || !first_invalid_utf8(value.get_ref<const std::string&>());
}

ParamValue parse_value(const json& value, const ParamSpec& spec, const SettingPath& at,
                       const Context& context) {
  if (spec.type != ParamType::path && !is_utf8(value)) context.fail(at, "is not UTF-8");
  auto converted = convert(value, spec.type);
  if (!converted || violation(spec, *converted)) {
    context.fail(at, "must be " + describe_accepted(spec) + ", not " + clipped(value));
  }
  return *std::move(converted);
}

ParamValue resolved(ParamValue value, const ParamSpec& spec, const SettingPath& at,
                    const Context& context) {
  if (spec.type != ParamType::path) return value;
  return resolve_path(std::get<std::string>(value), at, context);
}

}  // namespace

Params parse_params(const json& object, const std::vector<ParamSpec>& specs, const SettingPath& at,
                    const Context& context) {
  Params params;
  for (const ParamSpec& spec : specs) {
    const auto found = object.find(spec.name);
    const SettingPath here = at.at(spec.name);
    if (spec.type == ParamType::jitter) {
      params.set_jitter(found == object.end() ? Jitter{} : parse_jitter(*found, here, context));
    } else if (found != object.end()) {
      params.set(spec.name,
                 resolved(parse_value(*found, spec, here, context), spec, here, context));
    } else if (spec.default_value) {
      params.set(spec.name, resolved(*spec.default_value, spec, here, context));
    } else if (!spec.optional) {
      context.fail(
          at, "lacks \"" + spec.name + "\": " + describe_accepted(spec) + " (" + spec.doc + ")");
    }
  }
  return params;
}

Jitter parse_jitter(const json& value, const SettingPath& at, const Context& context) {
  check_keys(value, names_of(jitter_params()), at, context);
  const Params params = parse_params(value, jitter_params(), at, context);
  const std::string& kind = params.string("kind");
  if (kind == "none") return {};
  return {.kind = kind == "pareto" ? Jitter::Kind::pareto : Jitter::Kind::lognormal,
          .cv = params.number("cv")};
}

ordered_json jitter_to_json(const Jitter& jitter) {
  switch (jitter.kind) {
    case Jitter::Kind::lognormal:
      return {{"kind", "lognormal"}, {"cv", jitter.cv}};
    case Jitter::Kind::pareto:
      return {{"kind", "pareto"}, {"cv", jitter.cv}};
    case Jitter::Kind::none:
      break;
  }
  return {{"kind", "none"}};
}

void write_params(ordered_json& object, const Params& params) {
  for (const auto& entry : params.values()) {
    std::visit([&](const auto& held) { object[entry.first] = held; }, entry.second);
  }
  if (params.has_jitter()) object["jitter"] = jitter_to_json(params.jitter());
}

std::vector<std::string> names_of(const std::vector<ParamSpec>& specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const ParamSpec& spec : specs) names.push_back(spec.name);
  return names;
}

}  // namespace cachebisect::spec
