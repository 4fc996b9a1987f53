// The stages of a pipeline file, as the chain gives its effective form.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// An array of objects; null if the file is not known, or has other stages than the chain.
[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::ordered_json file_stages(
    const ChainDescription& chain);

/// The fields that a sample stage works on.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> fields_of_stage(
    const nlohmann::ordered_json& stage);

}  // namespace cachebisect
