// One request to all ranks of a job at the same time: to those of this machine one by one, to those
// of other nodes through their relays, which answer for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/rank_range.hpp"
#include "cachebisect/remote/ask_all.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/remote/node_connection.hpp"

namespace cachebisect {

/// How a rank is reached.
struct AskedRank {
  AdapterConnection* connection;
  std::shared_ptr<NodeConnection> node;  ///< empty: this machine
  std::uint64_t process = 0;             ///< that the node's relay knows it by
  bool has_loader = true;
};

/// Keeps references to the connections. Not thread safe.
class CACHEBISECT_INTERNAL_API AskRanks {
 public:
  /// `stages`: of their chains. Throws Error(internal) if the system cannot wait for so many.
  AskRanks(std::vector<AskedRank> ranks, std::size_t stages);

  /// The request for a rank, by whether it is freed and has a loader; null: it is not asked. Called
  /// once for each of the four kinds at most.
  using Request = std::function<nlohmann::json(bool freed, bool with_loader)>;
  struct Answer {
    std::vector<std::size_t> ranks;
    std::shared_ptr<const nlohmann::json> value;  ///< empty after an error
    std::exception_ptr error;
  };
  /// One for each rank of this machine and each other node, by the first rank; none of those that
  /// were not asked. An answer of a node with an error has the rank that it is of, if that is
  /// known. Ends what is open as AskAll does.
  std::vector<Answer> ask(const Request& request, const RankRange& freed,
                          const std::stop_token& stop);
  /// The block in an answer to `run`. Throws Error(internal) that names the field that is wrong.
  [[nodiscard]] BlockPart block_of(const Answer& answer) const;
  /// The last request. False if a process does not react. Never throws.
  bool finish(bool exit, int exit_code, const std::string& text) noexcept;

 private:
  class Requests;
  /// A rank of this machine, or all ranks of another node.
  struct Asked {
    std::shared_ptr<NodeConnection> node;
    std::vector<std::size_t> ranks;
  };
  [[nodiscard]] AdapterConnection* connection_of(const Asked& asked) const;
  [[nodiscard]] nlohmann::json node_request(const Asked& asked, Requests& requests) const;
  [[nodiscard]] Answer answer_of(const Asked& asked, nlohmann::json value,
                                 const std::exception_ptr& error) const;
  [[nodiscard]] std::optional<std::size_t> rank_of(const std::vector<std::size_t>& ranks,
                                                   std::uint64_t process) const;

  std::vector<AskedRank> ranks_;
  std::size_t stages_;
  std::vector<Asked> asked_;  ///< those of this machine first
  std::optional<AskAll> all_;
};

}  // namespace cachebisect
