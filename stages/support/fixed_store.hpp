// A store from which nothing goes.
#pragma once

#include <cstdint>
#include <memory>

#include "stages/support/sample_store.hpp"

namespace cachebisect::stages {

/// Readers need no lock.
[[nodiscard]] std::unique_ptr<SampleStore> make_fixed_store(std::uint64_t limit_bytes);

}  // namespace cachebisect::stages
