// All ranks of a distributed job as one Replayer.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/remote/ask_ranks.hpp"
#include "cachebisect/remote/attached_replayer.hpp"
#include "cachebisect/remote/job_nodes.hpp"
#include "cachebisect/remote/remote_replayer.hpp"

namespace cachebisect {

/// Sends each request to all ranks at the same time (ask_ranks.hpp), and combines their answers
/// (combine_ranks.hpp). All ranks run the same number of steps in each block, because a step of one
/// waits for the others; those without a loader are asked for nothing else. After an error in one
/// rank the others may wait for it in the middle of a step: they are stopped, and every later call
/// throws the same error. That holds for arms with overrides, too, which a single process survives:
/// the ranks have taken different numbers of steps by then, and would never finish the next block.
class CACHEBISECT_INTERNAL_API RanksReplayer final : public AttachedReplayer {
 public:
  /// `adapters`: one per rank, in order. Throws Error(usage) if their chains differ.
  RanksReplayer(std::vector<AttachedAdapter> adapters, const std::stop_token& stop,
                const std::string& own_node);
  ~RanksReplayer() override;
  RanksReplayer(const RanksReplayer&) = delete;
  RanksReplayer& operator=(const RanksReplayer&) = delete;

  [[nodiscard]] ChainDescription describe() const override { return chain_; }
  [[nodiscard]] bool supports(const Arm& arm) const override;
  [[nodiscard]] std::string why_unsupported(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  bool freshen(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  /// A time limit is turned into a number of steps, by the last block of the same arm.
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  std::optional<StorageCounts> count_storage(const StorageRequest& request,
                                             const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override;
  [[nodiscard]] MachineReading read_machine() const override;
  /// Nothing where time is simulated, or after an error.
  [[nodiscard]] std::vector<NodeReading> read_other_nodes() override;
  /// Finds nothing: each rank would profile samples of its own, and might find other functions.
  Inside look_inside(const std::string& stage) override;
  void check_running() const override;
  bool finish(bool exit, int exit_code, const std::string& text) noexcept override;

 private:
  /// Calls `call(rank, number, stop)` for all ranks with loaders at the same time. Throws the first
  /// error.
  template <class Call>
  auto on_loaders(const std::stop_token& stop, const Call& call) const;
  /// The same for a single request.
  std::vector<AskRanks::Answer> ask_all(const AskRanks::Request& request, const RankRange& freed,
                                        const std::stop_token& stop);
  /// Calls `read(answer)` for all, and names the ranks whose answer is wrong.
  template <class Read>
  void read_all(const std::vector<AskRanks::Answer>& answers, const Read& read) const;
  [[nodiscard]] bool supports_without_asking(const Arm& arm) const;
  /// Keeps and throws the error that stopped the others, if there is one.
  void check(const std::vector<std::exception_ptr>& errors) const;
  [[nodiscard]] BlockRequest in_steps(BlockRequest request) const;
  /// Untimed steps of the next block of an arm, in addition to those asked for: its first one
  /// begins with empty queues. As many on all ranks, also on those that serve from a cache.
  [[nodiscard]] int settling_of(Arm arm);
  /// "rank 3", with the node in jobs of several; `ranks` are of one node.
  [[nodiscard]] std::string name_of(const std::vector<std::size_t>& ranks) const;
  [[nodiscard]] bool has_loader(std::size_t rank) const { return !without_loader_.contains(rank); }
  /// True if one of these ranks has a loader.
  [[nodiscard]] bool has_loader(const RankRange& ranks) const;
  [[nodiscard]] bool is_here(std::size_t rank) const { return nodes_[rank] == nullptr; }
  [[nodiscard]] bool has_other_nodes() const;
  /// What a rank may use of the memory of its machine, by rank.
  [[nodiscard]] std::vector<double> memory_shares(const CacheBudget& budget,
                                                  const std::stop_token& stop) const;

  std::string own_node_;
  mutable std::stop_source stop_all_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::vector<std::unique_ptr<RemoteReplayer>> ranks_;
  NodesByRank nodes_;
  std::set<std::size_t> without_loader_;
  std::optional<AskRanks> asked_;
  ChainDescription chain_;
  std::map<Arm, double> step_seconds_;
  std::set<Arm> begun_;
  int settling_steps_ = 0;
  mutable std::exception_ptr failure_;  ///< of any call; none after it can succeed
};

}  // namespace cachebisect
