// A DataLoader in virtual time: what `tune` proposes for a script is run by live arms.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "support/forwarding_replayer.hpp"
#include "support/starved_chain.hpp"
#include "support/torch_settings.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::test {

/// What a setting changes in the chain, given its value as JSON.
using PricedChange = std::function<void(SimulatedChain&, const std::string&)>;

inline SimulatedStage& stage_named(SimulatedChain& chain, const std::string& name) {
  for (SimulatedStage& stage : chain.stages) {
    if (stage.name == name) return stage;
  }
  throw Error(ErrorKind::internal, "there is no stage " + name);
}

/// `changes`: of the settings that live arms can run, by the names that Python gives them.
class PricedScript final : public ForwardingReplayer {
 public:
  PricedScript(SimulatedChain chain, std::map<std::string, PricedChange> changes)
      : ForwardingReplayer(chain, options()),
        description(ForwardingReplayer::describe()),
        chain_(std::move(chain)),
        changes_(std::move(changes)) {
    description.settings = torch_settings();
    description.worker_processes = true;
    for (StageDescription& stage : description.stages) {
      const bool batches = stage.category == Category::transfer || stage.category == Category::pin;
      if (batches) stage.kind = StageKind::batch;
    }
  }

  [[nodiscard]] ChainDescription describe() const override { return description; }
  [[nodiscard]] bool supports(const Arm& arm) const override {
    for (const auto& [name, value] : arm.overrides) {
      if (!changes_.contains(name)) return false;
    }
    return ForwardingReplayer::supports({arm.kind, arm.boundary, arm.stage, {}});
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    if (request.arm.overrides.empty()) return ForwardingReplayer::run(request, stop);
    BlockRequest plain = request;
    plain.arm.overrides.clear();
    return changed(request.arm.overrides).run(plain, stop);
  }
  [[nodiscard]] double clock() const override {
    double seconds = ForwardingReplayer::clock();
    for (const auto& [overrides, other] : others_) seconds += other->clock();
    return seconds;
  }

  ChainDescription description;

 private:
  static SimulatedOptions options() { return {.noise = {.white_cv = 0.01}}; }

  SimulatedReplayer& changed(const std::map<std::string, std::string>& overrides) {
    auto& other = others_[overrides];
    if (other == nullptr) {
      SimulatedChain chain = chain_;
      for (const auto& [name, value] : overrides) changes_.at(name)(chain, value);
      other = std::make_unique<SimulatedReplayer>(std::move(chain), options());
      static_cast<void>(other->prepare({}, {}));
    }
    return *other;
  }

  SimulatedChain chain_;
  std::map<std::string, PricedChange> changes_;
  std::map<std::map<std::string, std::string>, std::unique_ptr<SimulatedReplayer>> others_;
};

}  // namespace cachebisect::test
