// What a relay asks the ranks of its node for one request of the engine, and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/remote/node_ask.hpp"
#include "cachebisect/remote/relayed_process.hpp"

namespace cachebisect {

/// One request. Not thread safe, but for the messages of ranks that are busy.
class RelayWork {
 public:
  /// Takes a message for the engine, from any thread; an empty one says only that it was the last.
  using Post = std::function<void(std::string message, bool last)>;

  /// Keeps references to the processes of `ask`.
  RelayWork(Post post, std::uint64_t id, NodeAsk ask, RelayedProcesses& processes);

  /// Has their connections report to this; the caller ends that. Returns those that it asks.
  std::vector<RelayedProcess*> take_over();
  /// Asks them, and posts what they answer.
  void run(const std::stop_token& stop);

 private:
  struct Rank {
    RelayedProcess* process;
    std::size_t group;
  };

  [[nodiscard]] std::string type() const;
  void send(nlohmann::json message, bool last);
  nlohmann::json ask_ranks(const std::stop_token& stop);
  [[nodiscard]] nlohmann::json failure_of(std::size_t i, const std::exception_ptr& error) const;
  nlohmann::json joined(const std::vector<nlohmann::json>& answers);
  template <class Read>
  void read_all(const Read& read);
  nlohmann::json joined_blocks(const std::vector<nlohmann::json>& answers);
  nlohmann::json joined_flags(const std::vector<nlohmann::json>& answers, const char* key);
  [[nodiscard]] static nlohmann::json joined_counters(const std::vector<nlohmann::json>& answers);
  nlohmann::json finish();

  Post post_;
  std::uint64_t id_;
  NodeAsk ask_;
  std::vector<Rank> ranks_;
  std::optional<std::uint64_t> missing_;  ///< a process that has no answer, or a wrong one
  bool failure_told_ = false;
};

}  // namespace cachebisect
