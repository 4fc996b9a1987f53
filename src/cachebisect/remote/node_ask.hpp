// What the engine asks the ranks of another node through its relay, and what the relay answers for
// all of them (docs/extend/protocol.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/combine_ranks.hpp"

namespace cachebisect {

/// Ranks that get the same request.
struct NodeAskGroup {
  std::vector<std::uint64_t> processes;  ///< numbers that the relay gave them
  bool has_loader = true;
};

struct NodeAsk {
  std::uint64_t last_id = 0;  ///< ids up to this were used for these processes
  double answer_seconds = 0;  ///< limit on the silence of a rank
  std::size_t stages = 0;     ///< of their chains
  std::vector<NodeAskGroup> groups;
  std::vector<nlohmann::json> requests;  ///< without ids, one per group
};

/// A rank that did not answer as it should.
struct NodeFailure {
  std::uint64_t process = 0;
  Error error;
};

[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json to_json(NodeAsk ask);
/// Throws Error(internal) that names the field that is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API NodeAsk read_node_ask(const nlohmann::json& request);

/// The field `failed` of an answer.
[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json to_json(const NodeFailure& failure);
/// Empty if no rank has failed. Throws Error(internal) that names the field that is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<NodeFailure> read_failure(
    const nlohmann::json& answer);

/// The fields of an answer to `run`; `slowest` is the number of a process.
[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json to_json(const BlockPart& part);
/// Throws Error(internal) that names the field that is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockPart read_block_part(const nlohmann::json& answer,
                                                                 std::size_t stages);

}  // namespace cachebisect
