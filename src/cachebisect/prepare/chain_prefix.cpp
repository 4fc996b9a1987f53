#include "cachebisect/prepare/chain_prefix.hpp"

#include <chrono>
#include <string>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/pipeline/chain.hpp"

namespace cachebisect::prepare {

ChainPrefix::ChainPrefix(const Pipeline& pipeline, std::size_t stages)
    : pipeline_(&pipeline), outputs_(stages), seconds_(stages, 0) {}

const Sample* ChainPrefix::run(SampleIndex index) {
  using Clock = std::chrono::steady_clock;
  const Sample* sample = nullptr;
  Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ChainStage& link = pipeline_->stages()[i];
    if (link.traits.caches) continue;
    try {
      sample = run_stage(i, index, sample);
    } catch (...) {
      const Error error = current_error(ErrorKind::data);
      if (link.skip_damaged && error.kind() == ErrorKind::data) return nullptr;
      const Sample& known = sample == nullptr ? outputs_[i] : *sample;
      throw error.with_context(describe(link) + ": " + describe(index, known.origin()));
    }
    const Clock::time_point end = Clock::now();
    seconds_[i] += std::chrono::duration<double>(end - begin).count();
    begin = end;
  }
  return sample;
}

const Sample* ChainPrefix::run_stage(std::size_t position, SampleIndex index, const Sample* input) {
  const ChainStage& link = pipeline_->stages()[position];
  arena_.reset();
  const SampleContext context(
      {.seed = pipeline_->spec().seed, .epoch = 0, .index = index, .stage = link.random_key},
      arena_);
  Sample& out = outputs_[position];
  if (input == nullptr) {
    out.set_index(index);
    static_cast<const SourceStage&>(*link.stage).read(out, context);
  } else {
    out.begin_from(*input);
    static_cast<const SampleStage&>(*link.stage).process(*input, out, context);
  }
  return &out;
}

}  // namespace cachebisect::prepare
