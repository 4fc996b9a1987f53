#include "cachebisect/replay/cache/input_guard.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/in_stage.hpp"
#include "cachebisect/replay/cache/content_hash.hpp"

namespace cachebisect {
namespace {

constexpr std::uint64_t kRoundsBetweenChecks = 8;

/// True if `stage` changes `input`; `out` receives its output.
bool writes_input(const ChainStage& stage, const Sample& input, Sample& out, std::uint64_t seed) {
  Arena arena;
  const RandomKey key{seed, 0, input.index(), stage.random_key};
  out.begin_from(input);
  const std::uint64_t before = content_hash(input);
  const auto& work = dynamic_cast<const SampleStage&>(*stage.stage);
  in_stage(stage, [&] { work.process(input, out, SampleContext(key, arena)); });
  return content_hash(input) != before;
}

/// The first sample stage after `boundary` that changes its input; empty if none is found.
std::string find_writer(const Pipeline& pipeline, std::span<const Sample> cached,
                        std::size_t boundary) {
  constexpr std::size_t tries = 16;  // a random stage may leave some samples alone
  for (const Sample& item : cached.first(std::min(tries, cached.size()))) {
    Sample input;
    input.copy_from(item);
    for (std::size_t i = boundary; i < pipeline.collate_position(); ++i) {
      const ChainStage& stage = pipeline.stages()[i];
      Sample out;
      if (writes_input(stage, input, out, pipeline.spec().seed)) return stage.name;
      Sample next;  // `out` may refer to fields of `input`
      next.copy_from(out);
      input = std::move(next);
    }
  }
  return {};
}

}  // namespace

InputGuard::InputGuard(const Pipeline& pipeline, BoundaryCache& cache, std::string step)
    : pipeline_(&pipeline), cache_(&cache), step_(std::move(step)) {}

void InputGuard::caches_filled() { replayed_.assign(pipeline_->stages().size() + 1, false); }

void InputGuard::freshened() {
  // Hashing takes time: one boundary, in the round before its turn.
  if ((rounds_ + 1) % kRoundsBetweenChecks == 0) cache_->remember(next_);
}

void InputGuard::before_replay(std::size_t boundary) {
  if (!replayed_.at(boundary)) cache_->remember(boundary);
}

void InputGuard::after_replay(std::size_t boundary) {
  if (replayed_.at(boundary)) return;
  replayed_.at(boundary) = true;
  check(boundary);
}

void InputGuard::begin_round() {
  ++rounds_;
  if (!cache_->filled() || rounds_ % kRoundsBetweenChecks != 0) return;
  check(next_);
  next_ = next_ % pipeline_->stages().size() + 1;
}

void InputGuard::check(std::size_t boundary) const {
  if (boundary == 0 || cache_->intact(boundary)) return;
  const auto& stages = pipeline_->stages();
  const std::string where = "the cached output of stage '" + stages[boundary - 1].name + "'";
  if (boundary == stages.size()) {
    throw Error(ErrorKind::data, "training step '" + step_ +
                                     "' changed the batch that it was given (" + where +
                                     "); a step must not write its batch");
  }
  const std::string writer = find_writer(*pipeline_, cache_->host(boundary).samples, boundary);
  if (!writer.empty()) {
    throw Error(ErrorKind::data, "stage '" + writer + "' changed its input (" + where +
                                     "); a stage must write only its output");
  }
  throw Error(ErrorKind::data, where + " was changed while it was replayed, by stage '" +
                                   stages[boundary].name + "', a later stage or training step '" +
                                   step_ + "'; none of them may write its input");
}

}  // namespace cachebisect
