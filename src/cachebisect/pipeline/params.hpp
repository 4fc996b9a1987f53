// Parameters of a stage: their declarations, and the checked values that a stage is made from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/jitter.hpp"

namespace cachebisect {

/// A parameter value of any type.
using ParamValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
                                std::vector<std::string>>;

enum class ParamType { boolean, integer, number, string, path, number_list, string_list, jitter };

/// One parameter as its stage declares it: the documentation, the check and the JSON Schema come
/// from here.
struct ParamSpec {
  std::string name{};
  ParamType type = ParamType::number;
  std::string doc{};  ///< one line, with the unit
  std::optional<ParamValue>
      default_value{};              ///< empty: the parameter is required, unless `optional`
  bool optional = false;            ///< may be absent without a default
  std::optional<double> minimum{};  ///< of a number, or of each number of a list
  std::optional<double> maximum{};
  bool exclusive_minimum = false;
  std::vector<std::string> choices{};  ///< of a string
  std::size_t min_items = 0;           ///< of a list
  std::size_t max_items = SIZE_MAX;
};

/// Checked values by name. Every declared parameter with a default is present.
class CACHEBISECT_API Params {
 public:
  void set(std::string name, ParamValue value);
  void set_jitter(Jitter jitter) {
    jitter_ = jitter;
    has_jitter_ = true;
  }

  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// These throw Error(internal) if the parameter is absent or of another type: the stage did not
  /// declare it that way.
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;  ///< integers are accepted too
  [[nodiscard]] const std::string& string(std::string_view name) const;
  [[nodiscard]] const std::vector<double>& numbers(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& strings(std::string_view name) const;
  [[nodiscard]] const Jitter& jitter() const noexcept { return jitter_; }
  /// True if the type declares a jitter, given or not.
  [[nodiscard]] bool has_jitter() const noexcept { return has_jitter_; }
  [[nodiscard]] const std::map<std::string, ParamValue, std::less<>>& values() const noexcept {
    return values_;
  }
  bool operator==(const Params&) const = default;

 private:
  [[nodiscard]] const ParamValue& at(std::string_view name) const;

  std::map<std::string, ParamValue, std::less<>> values_;
  Jitter jitter_;
  bool has_jitter_ = false;
};

/// What a parameter accepts: "an integer from 1 to 16", "one of a, b".
CACHEBISECT_API std::string describe_accepted(const ParamSpec& spec);
/// What is wrong with `value` (type, range, choice, number of items); empty if it is valid. An
/// integer is valid for a number. A jitter's value is not a ParamValue and always valid.
CACHEBISECT_API std::optional<std::string> violation(const ParamSpec& spec,
                                                     const ParamValue& value);
/// Checks `given` against the declarations and fills in defaults. Throws Error(usage) naming the
/// parameter and what it accepts.
CACHEBISECT_API Params complete_params(const std::vector<ParamSpec>& specs, Params given);

}  // namespace cachebisect
