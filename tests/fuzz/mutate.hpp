// Changes an input at random: bytes of any, values of JSON documents.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/random.hpp"

namespace cachebisect::fuzz {

/// Changes, removes, repeats or cuts off a few bytes; those at the beginning more often.
std::string mutated_bytes(std::string bytes, RandomStream& random);

/// Changes one value of the document, or of one line of a text of documents. Empty for what is no
/// JSON.
std::optional<std::string> mutated_json(std::string_view text, RandomStream& random);

}  // namespace cachebisect::fuzz
