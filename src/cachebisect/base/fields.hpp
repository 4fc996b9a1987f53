// One list of fields per struct: whatever writes, reads or describes the struct visits the list.
#pragma once

#include <string_view>
#include <type_traits>

namespace cachebisect {

enum class Presence {
  usual,     ///< always written; where it is missing, the struct keeps its default
  added,     ///< likewise, but what older versions wrote lacks it
  required,  ///< refused where it is missing
};

/// The same in the messages of adapters, where the struct is part of one.
enum class Sent {
  usual,     ///< required, unless it is `added` or what it holds may be unknown
  required,  ///< refused where it is missing
  optional,  ///< where it is missing, the struct keeps its default
  never,     ///< no field of messages
};

/// A field in JSON: its key, and what the key does not say.
struct FieldKey {
  std::string_view name;
  std::string_view doc{};
  Presence presence = Presence::usual;
  Sent sent = Sent::usual;
};

/// A field that messages may lack.
[[nodiscard]] constexpr FieldKey if_sent(std::string_view name, std::string_view doc = {}) {
  return {name, doc, Presence::usual, Sent::optional};
}

/// What the list of `Struct` takes: a reader fills it. The list itself is a function template
/// fields(Visitor&, Visited<Visitor, Struct>&), found by the namespace of the struct.
template <class Visitor, class Struct>
using Visited = std::conditional_t<Visitor::kReads, Struct, const Struct>;

}  // namespace cachebisect
