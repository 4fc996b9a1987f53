#include "cachebisect/tune/tune.hpp"

#include <algorithm>

#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/tune/climb.hpp"
#include "cachebisect/tune/pipeline_subject.hpp"
#include "cachebisect/tune/replayer_subject.hpp"

namespace cachebisect::tune {

bool Trial::needs_scratch() const noexcept { return !written_after.empty() || id == kDiskCacheId; }

int Result::kept() const noexcept {
  return static_cast<int>(std::ranges::count_if(trials, &Trial::kept));
}

Result tune(const PipelineSpec& spec, const Registry& registry, const Options& options) {
  PipelineSubject subject(spec, registry, options);
  return climb(subject, options);
}

Result tune(Replayer& replayer, const Options& options) {
  ReplayerSubject subject(replayer, options);
  return climb(subject, options);
}

}  // namespace cachebisect::tune
