// What a node says when it joins a job, and the answer (docs/extend/protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The version of what relays and engines say to each other. Both sides must have the same.
inline constexpr std::uint64_t kNodesVersion = 2;

/// What a connection of a node is for.
enum class JoinedFor {
  node,     ///< requests to its relay
  process,  ///< the messages of one process on it
};

struct JoinRequest {
  std::string token;
  std::string node;  ///< its name
  JoinedFor purpose = JoinedFor::node;
  std::uint64_t process = 0;  ///< its number on the node, for a process
};

/// What a node needs to start its command.
struct JoinAnswer {
  std::map<std::string, std::string> environment;  ///< CACHEBISECT_... of the command
};

[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json to_json(const JoinRequest& request);
/// Throws Error(usage) if it is no join request of this version of the protocol.
[[nodiscard]] CACHEBISECT_INTERNAL_API JoinRequest read_join_request(const std::string& line);

[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json to_json(const JoinAnswer& answer);
[[nodiscard]] nlohmann::json join_refusal(const std::string& why);
/// Throws Error(usage) with the reason of a refusal, or if it is no answer to a join request.
[[nodiscard]] CACHEBISECT_INTERNAL_API JoinAnswer read_join_answer(const std::string& line);

/// The text of a message; what is no UTF-8 is replaced.
[[nodiscard]] std::string line_of(const nlohmann::json& message);

/// Throws Error(usage) unless it has 1 to 64 letters, digits, dots, hyphens and underscores.
CACHEBISECT_INTERNAL_API void check_node_name(const std::string& name);
/// In a time that does not depend on how many characters agree.
[[nodiscard]] bool same_token(const std::string& given, const std::string& expected) noexcept;
/// 32 hexadecimal digits from the system's generator.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string new_token();

}  // namespace cachebisect
