// Floats in 16 bits before the copy, where the training step computes in 16 bits.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/file_stages.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

/// What a worker casts per second, in bytes of float32, measured: 205 us for 602 kB.
constexpr double kCastBytesPerSecond = 3e9;
/// What floats keep of their bytes.
constexpr double kBytesOfHalf = 0.5;

/// The type that the training step computes in; empty if that is float32, or is not known.
std::string half_type(const ChainDescription& chain) {
  const Json spec = Json::parse(chain.effective_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("train") || !spec["train"].is_object()) return "";
  const Json precision = spec["train"].value("precision", Json("fp32"));
  if (precision == "bf16-mixed") return "bfloat16";
  return precision == "fp16-mixed" ? "float16" : "";
}

/// True if "image float32 [3, 224, 224], label int64 []" has such an image.
bool has_float_image(std::string_view fields) {
  const bool first = fields.starts_with("image float32 ");
  return first || fields.find(", image float32 ") != std::string_view::npos;
}

bool has_device_stages(const ChainDescription& chain) {
  return std::ranges::any_of(
      chain.stages, [](const StageDescription& stage) { return stage.kind == StageKind::device; });
}

/// A cast behind the last sample stage; empty where the step does not take it, or where what is
/// copied is not images of floats.
std::optional<Proposal> cast_before(const Advice& advice, const StageReport& copy) {
  const ChainDescription& chain = advice.chain();
  const std::string type = half_type(chain);
  const std::size_t samples = count_sample_stages(chain);
  if (type.empty() || samples == 0 || has_device_stages(chain)) return std::nullopt;
  if (!has_float_image(chain.stages[samples - 1].output)) return std::nullopt;
  const auto& bytes = advice.stages()[samples - 1].output_bytes;
  if (!bytes) return std::nullopt;
  Proposal proposal = propose(
      "half", copy.name, "cast images to " + type + " before the copy",
      "the training step computes in 16 bits, and the copy then moves " +
          format_bytes(kBytesOfHalf * *bytes) + " of " + format_bytes(*bytes) + " per sample",
      {{"/stages/" + std::to_string(samples), Json{{"use", "augment.cast"}, {"dtype", type}}.dump(),
        EditKind::insert}},
      scaled_copy(advice, kBytesOfHalf));
  proposal.changes->added_seconds = *bytes / kCastBytesPerSecond;
  return proposal;
}

}  // namespace

void offer_half(Advice& advice, const StageReport& copy) {
  if (advice.of_code()) return;
  if (auto proposal = cast_before(advice, copy)) advice.add(*std::move(proposal));
}

}  // namespace cachebisect
