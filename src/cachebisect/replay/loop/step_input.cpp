#include "cachebisect/replay/loop/step_input.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

StepInput::StepInput(const Pipeline& pipeline, const StepSource& source, DeviceFeed* feed,
                     DeviceChain& chain, Stream& compute)
    : source_(&source),
      feed_(feed),
      chain_(&chain),
      compute_(&compute),
      after_copy_(pipeline.copy_position() + 1),
      last_(pipeline.stages().size()) {}

void StepInput::begin(std::uint64_t steps, LoopObserver* observer) {
  if (feed_ == nullptr) return;
  feed_->observe(observer);
  feed_->begin(steps);
}

const DeviceBatch& StepInput::acquire(std::uint64_t step, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  const DeviceBatch* loaded = feed_ != nullptr ? feed_->acquire(step, stop) : nullptr;
  if (source_->cached.empty()) return chain_->run(*loaded, after_copy_, last_, *compute_);
  if (loaded != nullptr) {
    // A bypassed stage does not run; alongside a shadowed step all stages do.
    const std::size_t to = source_->paced ? last_ : source_->boundary - 1;
    (void)chain_->run(*loaded, after_copy_, to, *compute_);
  }
  const DeviceBatch& cached = source_->cached[(source_->first + step) % source_->cached.size()];
  return chain_->run(cached, source_->boundary, last_, *compute_);
}

void StepInput::submitted(std::uint64_t step) {
  if (feed_ != nullptr) feed_->submitted(step);
}

double StepInput::starved_seconds() const noexcept {
  return feed_ != nullptr ? feed_->starved_seconds() : 0;
}

std::optional<int> StepInput::ready() const noexcept {
  return feed_ != nullptr ? feed_->loader().ready() : std::nullopt;
}

}  // namespace cachebisect
