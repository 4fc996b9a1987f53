// Fields that are mostly zeros as positions and values before the copy, by what the caches show.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/copied_samples.hpp"
#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

struct Sparse {
  FieldText text;
  std::vector<std::int64_t> dims;  ///< of a sample, as the batch has them
  double now = 0;                  ///< bytes
  std::int64_t most = 0;           ///< values that are not zero

  [[nodiscard]] double left() const {
    return static_cast<double>(most) * (sizeof(std::int32_t) + type_bytes(text.dtype));
  }
};

/// Half as many again as in the samples of the caches, for samples that have more; a multiple of 8,
/// as the stage takes it.
std::int64_t most_of(const FieldValues& values) {
  return static_cast<std::int64_t>(values.nonzero + values.nonzero / 2) / 8 * 8 + 8;
}

/// The field of which this leaves out most bytes, if they are enough to be worth it.
std::optional<Sparse> sparsest(const Advice& advice, const CopiedSamples& samples) {
  std::optional<Sparse> best;
  const std::vector<FieldText> texts =
      field_texts(advice.chain().stages[samples.stages - 1].output);
  for (const FieldValues& values : advice.field_values()) {
    const auto text = std::ranges::find(texts, values.name, &FieldText::name);
    if (text == texts.end() || values.unused || values.nonzero <= 0) continue;
    auto dims = dims_of(text->dims);
    const auto now = bytes_of(*text);
    if (!dims || dims->empty() || !now || !keeps_its_order(*dims, samples.planar)) continue;
    const Sparse field{*text, *std::move(dims), *now, most_of(values)};
    if (field.now - field.left() < kNegligible * samples.bytes) continue;
    if (!best || field.now - field.left() > best->now - best->left()) best = field;
  }
  return best;
}

}  // namespace

void offer_sparse(Advice& advice, const StageReport& copy) {
  const auto samples = copied_samples(advice, copy);
  const auto field = samples ? sparsest(advice, *samples) : std::nullopt;
  if (!field) return;
  const std::string name(field->text.name);
  const Json fields = Json::array({name});
  const Json before{{"use", "augment.pack_nonzeros"}, {"most", field->most}, {"fields", fields}};
  const Json after{{"use", "device.unpack_nonzeros"},
                   {"shape", field->dims},
                   {"dtype", field->text.dtype},
                   {"fields", fields}};
  const double left = samples->bytes - field->now + field->left();
  Proposal proposal = propose(
      "sparse", copy.name, "send " + name + " as positions and values, and zeros from the device",
      "of cached samples the copy can do with " + format_bytes(left) + " of " +
          format_bytes(samples->bytes) + " each; more than " + std::to_string(field->most) +
          " values that are not zero would be an error",
      {{"/stages/" + std::to_string(copy.index), after.dump(), EditKind::insert},
       {"/stages/" + std::to_string(samples->stages), before.dump(), EditKind::insert}});
  set_smaller_copy(proposal, advice, *samples, left, field->now);
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
