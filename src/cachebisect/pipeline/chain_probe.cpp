#include "cachebisect/pipeline/chain_probe.hpp"

#include "cachebisect/pipeline/callable_stages.hpp"

namespace cachebisect {

std::span<const Sample> ChainProbe::advance(std::size_t position) {
  const ChainStage& link = chain_[position];
  const auto context_of = [&](std::uint64_t index) {
    arena_.reset();
    return SampleContext({seed_, 0, index, link.random_key}, arena_);
  };
  std::vector<Sample> outputs;
  if (link.kind == StageKind::source) {
    const auto& source = static_cast<const SourceStage&>(*link.stage);
    for (const std::uint64_t index : probe_indices(source.size())) {
      Sample& out = outputs.emplace_back();
      out.set_index({index});
      source.read(out, context_of(index));
    }
  } else {
    const auto& stage = static_cast<const SampleStage&>(*link.stage);
    for (const Sample& input : levels_.back()) {
      Sample& out = outputs.emplace_back();
      out.begin_from(input);
      stage.process(input, out, context_of(input.index()));
    }
  }
  levels_.push_back(std::move(outputs));
  return levels_.back();
}

}  // namespace cachebisect
