// A Replayer that hands every call to a simulated one: tests change what they are about.
#pragma once

#include <utility>

#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::test {

class ForwardingReplayer : public Replayer {
 public:
  explicit ForwardingReplayer(SimulatedChain chain, SimulatedOptions options = {})
      : inner_(std::move(chain), std::move(options)) {}

  [[nodiscard]] ChainDescription describe() const override { return inner_.describe(); }
  [[nodiscard]] bool supports(const Arm& arm) const override { return inner_.supports(arm); }
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    return inner_.prepare(budget, stop);
  }
  void begin_round() override { inner_.begin_round(); }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    return inner_.run(request, stop);
  }
  [[nodiscard]] double clock() const override { return inner_.clock(); }
  [[nodiscard]] MachineReading read_machine() const override { return inner_.read_machine(); }

 private:
  SimulatedReplayer inner_;
};

}  // namespace cachebisect::test
