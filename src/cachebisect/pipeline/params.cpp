#include "cachebisect/pipeline/params.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect {
namespace {

template <class T>
const T& get(const ParamValue& value, std::string_view name, const char* type) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw Error(ErrorKind::internal,
              "parameter " + quote(name) + " was declared with a type other than " + type);
}

}  // namespace

void Params::set(std::string name, ParamValue value) {
  values_.insert_or_assign(std::move(name), std::move(value));
}

bool Params::has(std::string_view name) const noexcept {
  return values_.find(name) != values_.end();
}

const ParamValue& Params::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw Error(ErrorKind::internal,
                "parameter " + quote(name) + " is absent: not declared, or optional and not given");
  }
  return found->second;
}

bool Params::boolean(std::string_view name) const { return get<bool>(at(name), name, "boolean"); }

std::int64_t Params::integer(std::string_view name) const {
  return get<std::int64_t>(at(name), name, "integer");
}

double Params::number(std::string_view name) const {
  const ParamValue& value = at(name);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return get<double>(value, name, "number");
}

const std::string& Params::string(std::string_view name) const {
  return get<std::string>(at(name), name, "string");
}

const std::vector<double>& Params::numbers(std::string_view name) const {
  return get<std::vector<double>>(at(name), name, "number list");
}

const std::vector<std::string>& Params::strings(std::string_view name) const {
  return get<std::vector<std::string>>(at(name), name, "string list");
}

}  // namespace cachebisect
