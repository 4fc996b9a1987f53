#include "cachebisect/pipeline/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect {
namespace {

// Keys of stage and train objects that have a meaning of their own in the pipeline file.
constexpr std::array<std::string_view, 5> kReserved{"use", "name", "on_error", "kind", "model"};

void check_type_name(const std::string& type) {
  const std::size_t dot = type.find('.');
  const std::string_view view = type;
  if (dot != std::string::npos && is_plain_name(view.substr(0, dot)) &&
      is_plain_name(view.substr(dot + 1)))
    return;
  throw Error(ErrorKind::usage,
              "type " + quote(type) + " must be category.name, both of [a-z0-9_-]");
}

void check_declaration(const std::string& type, const ParamSpec& spec) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::usage,
                "type " + quote(type) + ", parameter " + quote(spec.name) + ": " + what);
  };
  if (!is_plain_name(spec.name)) refuse("a name has characters of [a-z0-9_-] only");
  if (std::ranges::find(kReserved, spec.name) != kReserved.end()) refuse("the name is reserved");
  if (spec.type == ParamType::jitter && spec.name != "jitter")
    refuse("a jitter must be named \"jitter\"");
  if (spec.name == "fields" && spec.type != ParamType::string_list)
    refuse("\"fields\" must be a list of strings");
  if (!spec.default_value) return;
  if (const auto wrong = violation(spec, *spec.default_value)) refuse("its default " + *wrong);
}

template <class Type>
void check_declarations(const Type& type) {
  check_type_name(type.type);
  std::vector<std::string> names;
  for (const ParamSpec& spec : type.params) {
    check_declaration(type.type, spec);
    if (std::ranges::find(names, spec.name) != names.end()) {
      throw Error(ErrorKind::usage, "type " + quote(type.type) + " declares parameter " +
                                        quote(spec.name) + " twice");
    }
    names.push_back(spec.name);
  }
}

// Keeps `types` sorted by type name.
template <class Type>
void insert_sorted(std::vector<Type>& types, Type type) {
  const auto place = std::ranges::lower_bound(types, type.type, {}, &Type::type);
  if (place != types.end() && place->type == type.type) {
    throw Error(ErrorKind::usage, "type " + quote(type.type) +
                                      " is already registered; a plugin needs its own category");
  }
  types.insert(place, std::move(type));
}

template <class Type>
const Type& find_type(const std::vector<Type>& types, std::string_view name, const char* what) {
  const auto found = std::ranges::lower_bound(types, name, {}, &Type::type);
  if (found != types.end() && found->type == name) return *found;
  std::vector<std::string> known;
  known.reserve(types.size());
  for (const Type& type : types) known.push_back(type.type);
  const std::string hint = known.empty() ? "none are registered" : suggestion(name, known);
  throw Error(ErrorKind::usage, std::string("unknown ") + what + " " + quote(name) + "; " + hint);
}

ParamSpec fields_param() {
  return {.name = "fields",
          .type = ParamType::string_list,
          .doc = "names of the fields to work on; others pass through",
          .default_value = std::vector<std::string>{"image"},
          .min_items = 1};
}

}  // namespace

std::string_view StageType::category() const noexcept {
  return std::string_view(type).substr(0, type.find('.'));
}

bool StageType::takes_fields() const noexcept {
  return (kind == StageKind::sample && !traits.caches) || kind == StageKind::device;
}

// By value: the old libraries are closed after everything that came from them.
Registry& Registry::operator=(Registry other) noexcept {
  std::swap(libraries_, other.libraries_);
  std::swap(stages_, other.stages_);
  std::swap(train_steps_, other.train_steps_);
  return *this;
}

void Registry::add(StageType type) {
  if (type.takes_fields() &&
      std::ranges::find(type.params, "fields", &ParamSpec::name) == type.params.end()) {
    type.params.push_back(fields_param());
  }
  check_declarations(type);
  insert_sorted(stages_, std::move(type));
}

void Registry::add(TrainStepType type) {
  check_declarations(type);
  insert_sorted(train_steps_, std::move(type));
}

const StageType& Registry::stage(std::string_view type) const {
  return find_type(stages_, type, "stage");
}

const TrainStepType& Registry::train_step(std::string_view type) const {
  return find_type(train_steps_, type, "training step");
}

}  // namespace cachebisect
