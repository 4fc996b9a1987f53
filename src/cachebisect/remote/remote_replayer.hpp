// A Replayer in one other process, which answers over a socket (docs/extend/protocol.md).
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <stop_token>
#include <string>

#include "cachebisect/protocol/cache_size.hpp"
#include "cachebisect/remote/attached_replayer.hpp"

namespace cachebisect {

/// Calls throw what AdapterConnection::request() throws. Any call may be stopped by the token that
/// the constructor gets, also those that take one.
class CACHEBISECT_INTERNAL_API RemoteReplayer final : public AttachedReplayer {
 public:
  RemoteReplayer(AttachedAdapter adapter, std::stop_token stop);
  ~RemoteReplayer() override;
  RemoteReplayer(const RemoteReplayer&) = delete;
  RemoteReplayer& operator=(const RemoteReplayer&) = delete;

  [[nodiscard]] ChainDescription describe() const override;
  /// False for a rank that runs blocks and answers nothing else of a chain.
  [[nodiscard]] bool has_loader() const noexcept { return adapter_.description.has_loader(); }
  [[nodiscard]] bool supports(const Arm& arm) const override;
  [[nodiscard]] std::string why_unsupported(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  bool freshen(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  /// For callers that send the same request to several adapters at once.
  [[nodiscard]] AdapterConnection& connection() const noexcept { return *adapter_.connection; }
  /// The number that the relay of its node knows it by.
  [[nodiscard]] std::uint64_t process() const noexcept { return adapter_.process; }
  /// For ranks, which must agree: the adapter keeps queues from block to block only if all can.
  /// Before prepare().
  void set_keeps_queues(bool keeps) noexcept;
  /// Untimed steps that the first block of an arm needs in addition.
  [[nodiscard]] int settling_steps() const noexcept { return adapter_.description.settling_steps; }
  /// How many of these samples freshen() asks for: what the limits of prepare() leave room for.
  [[nodiscard]] std::uint64_t fresh_samples(std::uint64_t wanted) const;
  std::optional<StorageCounts> count_storage(const StorageRequest& request,
                                             const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override;
  /// Never throws: without an answer, the CPU time is the last that is known.
  [[nodiscard]] MachineReading read_machine() const override;

  Inside look_inside(const std::string& stage) override;
  void check_running() const override;
  bool finish(bool exit, int exit_code, const std::string& text) noexcept override;

 private:
  [[nodiscard]] CacheNeeds needs(const AdapterSizes& sizes, const CacheBudget& budget) const;
  /// What the adapter says of a live arm with overrides.
  struct Support {
    bool supported = false;
    std::string why;
  };
  [[nodiscard]] const Support& support_of(const Arm& arm) const;

  AttachedAdapter adapter_;
  std::stop_token stop_;
  CacheNeeds needs_;
  mutable std::map<std::map<std::string, std::string>, Support> supported_overrides_;
  mutable double own_cpu_seconds_ = 0;
  std::exception_ptr failure_;  ///< of a block of the job as it is, without overrides
};

}  // namespace cachebisect
