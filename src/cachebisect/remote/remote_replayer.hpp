// A Replayer in another process, which answers over a socket (docs/protocol.md).
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/protocol/cache_size.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/remote/adapter_connection.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {

/// A training process whose adapter has answered `describe`.
struct AttachedAdapter {
  std::unique_ptr<AdapterConnection> connection;
  AdapterHello hello;
  AdapterDescription description;
};

/// Calls throw what AdapterConnection::request() throws. Any call may be stopped by the token that
/// the constructor gets, also those that take one.
class CACHEBISECT_INTERNAL_API RemoteReplayer final : public Replayer {
 public:
  /// Throws Error(usage) for a process of a distributed job.
  RemoteReplayer(AttachedAdapter adapter, std::stop_token stop);
  ~RemoteReplayer() override;
  RemoteReplayer(const RemoteReplayer&) = delete;
  RemoteReplayer& operator=(const RemoteReplayer&) = delete;

  [[nodiscard]] ChainDescription describe() const override;
  [[nodiscard]] bool supports(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  bool freshen(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override;
  /// Never throws: without an answer, the CPU time is the last that is known.
  [[nodiscard]] MachineReading read_machine() const override;

  /// What look_inside() found.
  struct Inside {
    bool changed = false;  ///< there are more stages than before, and the caches are empty
    std::vector<std::string> notes;
  };
  /// Asks the adapter to make stages of functions that `stage` calls.
  Inside look_inside(const std::string& stage);

  /// Ends the connection: the last call. False if the training process does not react. Never
  /// throws.
  bool finish(bool exit, int exit_code, const std::string& text) noexcept;

 private:
  [[nodiscard]] CacheNeeds needs(const AdapterSizes& sizes, const CacheBudget& budget) const;
  [[nodiscard]] bool supports_overrides(const Arm& arm) const;

  AttachedAdapter adapter_;
  std::stop_token stop_;
  CacheNeeds needs_;
  mutable std::map<std::map<std::string, std::string>, bool> supported_overrides_;
  mutable double own_cpu_seconds_ = 0;
};

}  // namespace cachebisect
