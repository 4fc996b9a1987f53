#include "cachebisect/protocol/replayer.hpp"

#include "cachebisect/base/machine_watch.hpp"

namespace cachebisect {

const char* to_string(ArmKind kind) noexcept {
  switch (kind) {
    case ArmKind::replay:
      return "replay";
    case ArmKind::bypass:
      return "bypass";
    case ArmKind::shadow:
      return "shadow";
    case ArmKind::live:
      return "live";
    case ArmKind::null:
      return "null";
    case ArmKind::unseen:
      return "unseen";
  }
  return "?";
}

Replayer::~Replayer() = default;

std::string Replayer::why_unsupported(const Arm& /*arm*/) const { return {}; }

std::optional<CacheFacts> Replayer::refill(std::uint64_t /*samples*/,
                                           const std::stop_token& /*stop*/) {
  return std::nullopt;
}

bool Replayer::freshen(std::uint64_t /*samples*/, const std::stop_token& /*stop*/) { return false; }

std::optional<StorageCounts> Replayer::count_storage(const StorageRequest& /*request*/,
                                                     const std::stop_token& /*stop*/) {
  return std::nullopt;
}

MachineReading Replayer::read_machine() const { return cachebisect::read_machine(); }

std::vector<NodeReading> Replayer::read_other_nodes() { return {}; }

}  // namespace cachebisect
