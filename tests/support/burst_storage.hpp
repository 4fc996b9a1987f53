// A training loop in virtual time that reads from storage with burst credits: live is fast while
// they last, and they are full again as soon as another arm has run.
#pragma once

#include <algorithm>

#include "support/virtual_loop.hpp"

namespace cachebisect::test {

struct BurstStorageChain {
  double step_seconds = 8e-3;        ///< of the device, per batch
  double read_seconds = 2e-3;        ///< per batch, with credits
  double slow_read_seconds = 80e-3;  ///< per batch, without
  double credit_seconds = 1;         ///< of live loop time that the credits last
  double noise = 0.01;               ///< standard deviation of the log of a step's time
};

/// A step takes as long as the slower of read and device.
class BurstStorage final : public VirtualLoop {
 public:
  explicit BurstStorage(const BurstStorageChain& chain)
      : VirtualLoop(chain.noise, 7), chain_(chain) {}

 protected:
  void begin_block(bool live) override {
    if (!live) used_seconds_ = 0;
  }
  [[nodiscard]] double read_seconds() const override {
    return used_seconds_ < chain_.credit_seconds ? chain_.read_seconds : chain_.slow_read_seconds;
  }
  double step_seconds(bool live) override {
    if (!live) return chain_.step_seconds;
    const double seconds = std::max(read_seconds(), chain_.step_seconds);
    used_seconds_ += seconds;
    return seconds;
  }

 private:
  BurstStorageChain chain_;
  double used_seconds_ = 0;  ///< of live loop time since another arm ran
};

}  // namespace cachebisect::test
