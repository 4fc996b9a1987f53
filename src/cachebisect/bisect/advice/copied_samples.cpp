#include "cachebisect/bisect/advice/copied_samples.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/bisect/advice/file_stages.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {

std::optional<CopiedSamples> copied_samples(const Advice& advice, const StageReport& copy) {
  const nlohmann::ordered_json all = file_stages(advice.chain());
  const std::size_t samples = count_sample_stages(advice.chain());
  if (advice.of_code() || all.is_null() || samples == 0) return std::nullopt;
  if (static_cast<std::size_t>(copy.index) != samples + 2) return std::nullopt;
  const auto& bytes = advice.stages()[samples - 1].output_bytes;
  if (!bytes) return std::nullopt;
  return CopiedSamples{samples, all[samples].value("layout", "NCHW") == "NCHW", *bytes};
}

void set_smaller_copy(Proposal& proposal, const Advice& advice, const CopiedSamples& samples,
                      double left, double converted) {
  proposal.changes = scaled_copy(advice, left / samples.bytes);
  proposal.other = proposal.changes;
  proposal.changes->added_seconds = converted / kMemorySpeed;
  proposal.other->added_seconds = converted / kLeastMemorySpeed;
}

}  // namespace cachebisect
