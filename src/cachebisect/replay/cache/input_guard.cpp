#include "cachebisect/replay/cache/input_guard.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/cache/content_hash.hpp"

namespace cachebisect {
namespace {

/// True when `stage` changes `input`; `out` becomes what it put out.
bool writes_input(const ChainStage& stage, const Sample& input, Sample& out, std::uint64_t seed) {
  Arena arena;
  const RandomKey key{seed, 0, input.index(), stage.random_key};
  out.begin_from(input);
  const std::uint64_t before = content_hash(input);
  dynamic_cast<const SampleStage&>(*stage.stage).process(input, out, SampleContext(key, arena));
  return content_hash(input) != before;
}

/// The first sample stage behind `boundary` that changes what it is given; empty when none is seen.
std::string find_writer(const Pipeline& pipeline, std::span<const Sample> cached,
                        std::size_t boundary) {
  constexpr std::size_t tries = 16;  // a random stage need not do its work on every sample
  for (const Sample& item : cached.first(std::min(tries, cached.size()))) {
    Sample input;
    input.copy_from(item);
    for (std::size_t i = boundary; i < pipeline.collate_position(); ++i) {
      const ChainStage& stage = pipeline.stages()[i];
      Sample out;
      if (writes_input(stage, input, out, pipeline.spec().seed)) return stage.name;
      Sample next;  // `out` may look at fields of `input`
      next.copy_from(out);
      input = std::move(next);
    }
  }
  return {};
}

}  // namespace

void check_untouched(const Pipeline& pipeline, const BoundaryCache& cache, std::size_t boundary,
                     const std::string& step) {
  if (boundary == 0 || cache.intact(boundary)) return;
  const auto& stages = pipeline.stages();
  const std::string where = "the cached output of stage '" + stages[boundary - 1].name + "'";
  if (boundary == stages.size()) {
    throw Error(ErrorKind::data, "training step '" + step +
                                     "' changed the batch that it was given (" + where +
                                     "); a step must not write its batch");
  }
  const std::string writer = find_writer(pipeline, cache.host(boundary).samples, boundary);
  if (!writer.empty()) {
    throw Error(ErrorKind::data, "stage '" + writer + "' changed its input (" + where +
                                     "); a stage must write its output alone");
  }
  throw Error(ErrorKind::data, where + " was changed while it was replayed, by stage '" +
                                   stages[boundary].name + "', one behind it, or training step '" +
                                   step + "'; none of them may write its input");
}

}  // namespace cachebisect
