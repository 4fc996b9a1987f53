// What is made of a request that has ended: facts of its object, or a refusal.
#pragma once

#include <string>

#include "cachebisect/http/http_read.hpp"
#include "cachebisect/http/object_address.hpp"
#include "cachebisect/http/part_reader.hpp"
#include "cachebisect/http/retry.hpp"

namespace cachebisect {

/// Throws Error(data) if the server does not say how large the object is.
[[nodiscard]] ObjectFacts facts_of(const ObjectAddress& object, const HttpResult& result);
/// Throws Error(data) if the object is another one than what is known.
void require_same(const ObjectAddress& object, const ObjectFacts& known, const HttpResult& result);
/// What is said of a read that failed and is not made again: the object, what the server said or
/// did, how often it was asked, and what to set.
[[nodiscard]] std::string read_refusal(const ObjectAddress& object, const HttpRead& wanted,
                                       const HttpResult& result, const Tried& tried);

}  // namespace cachebisect
