// Decoding no more of an image than the crop behind it keeps.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/file_stages.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

/// Share of decoding a JPEG that reads its bits: photos of low and of high quality.
constexpr double kLeastEntropyShare = 0.6;
constexpr double kMostEntropyShare = 0.85;
/// Encoded over decoded bytes of a sample, above which images are hardly JPEG: those are decoded as
/// a whole.
constexpr double kLargestJpegShare = 0.35;

/// What an image keeps of its bytes at half its width and height.
constexpr double kBytesOfHalfSize = 0.25;

/// Decoding and crop in one, under the name of the crop, so that it draws the same numbers.
Json fused(const Json& decode, const Json& crop, const std::string& name) {
  Json stage{{"use", "decode.random_resized_crop"}, {"name", name}};
  for (const auto& [key, value] : decode.items()) {
    if (key != "use" && key != "name" && key != "scale") stage[key] = value;
  }
  for (const auto& [key, value] : crop.items()) {
    if (key != "use" && key != "name" && key != "on_error") stage[key] = value;
  }
  return stage;
}

/// What decoding costs then, over what it costs now: bits are read down to the crop's last row, and
/// pixels are computed in the crop alone. `area`: its mean share of the image.
double cost_of_part(double area, double entropy_share) {
  const double last_row = (1 + std::sqrt(area)) / 2;
  return entropy_share * last_row + (1 - entropy_share) * area;
}

/// n, where JPEG is decoded at 1/n of its size.
std::int64_t scale_of(const Json& decode) { return decode.value("scale", std::int64_t{1}); }

double mean_area(const Json& crop) {
  const Json& scale = crop.at("scale");
  return std::clamp((scale.at(0).get<double>() + scale.at(1).get<double>()) / 2, 0.0, 1.0);
}

bool looks_like_jpeg(const Advice& advice, const StageReport& decode) {
  if (decode.index < 2 || !decode.output_bytes || *decode.output_bytes <= 0) return false;
  const auto& encoded = advice.stages()[static_cast<std::size_t>(decode.index) - 2].output_bytes;
  return encoded && *encoded < kLargestJpegShare * *decode.output_bytes;
}

std::optional<Proposal> decode_crop(const Advice& advice, const StageReport& decode) {
  const auto at = static_cast<std::size_t>(decode.index);  // of the stage behind it
  if (advice.of_code() || decode.type != "decode.image" || at >= advice.stages().size()) return {};
  const StageReport& crop = advice.stages()[at];
  const Json stages = file_stages(advice.chain());
  if (crop.type != "augment.random_resized_crop" || stages.is_null()) return {};
  if (fields_of_stage(stages[at - 1]) != fields_of_stage(stages[at])) return {};
  if (scale_of(stages[at - 1]) != 1) return {};
  const std::string place = "/stages/" + std::to_string(at - 1);
  Proposal proposal = propose(
      "decode_crop", decode.name, "decode only what " + crop.name + " keeps",
      "a JPEG is decoded down to the last row of the crop, and only there into pixels; samples "
      "stay the same",
      {{"/stages/" + std::to_string(at), "null", EditKind::remove},
       {place, "null", EditKind::remove},
       {place, fused(stages[at - 1], stages[at], crop.name).dump(), EditKind::insert}});
  const double area = mean_area(stages[at]);
  proposal.changes = scaled_stage(decode, cost_of_part(area, kLeastEntropyShare));
  const double most = looks_like_jpeg(advice, decode) ? cost_of_part(area, kMostEntropyShare) : 1.0;
  proposal.other = scaled_stage(decode, most);
  return proposal;
}

/// True if a later stage leaves no more bytes of a sample than an image of half the size has.
bool is_larger_than_needed(const Advice& advice, const StageReport& decode) {
  return std::ranges::any_of(advice.stages(), [&](const StageReport& stage) {
    return stage.index > decode.index && stage.output_bytes &&
           *stage.output_bytes <= kBytesOfHalfSize * *decode.output_bytes;
  });
}

std::optional<Proposal> half_size(const Advice& advice, const StageReport& decode) {
  const auto at = static_cast<std::size_t>(decode.index) - 1;
  const Json stages = file_stages(advice.chain());
  if (advice.of_code() || decode.type != "decode.image" || stages.is_null()) return {};
  if (scale_of(stages[at]) != 1 || !looks_like_jpeg(advice, decode)) return {};
  if (!is_larger_than_needed(advice, decode)) return {};
  Proposal proposal = propose("partial_decode", decode.name, "decode JPEG at half its size",
                              "later stages leave a quarter of the pixels, or less; samples change",
                              {{"/stages/" + std::to_string(at) + "/scale", "2"}});
  const auto cost = [](double entropy) { return entropy + (1 - entropy) * kBytesOfHalfSize; };
  proposal.changes = scaled_stage(decode, cost(kLeastEntropyShare));
  proposal.other = scaled_stage(decode, cost(kMostEntropyShare));
  return proposal;
}

}  // namespace

void offer_less_decoding(Advice& advice, const StageReport& decode) {
  try {
    if (auto proposal = decode_crop(advice, decode)) advice.add(*std::move(proposal));
    if (auto proposal = half_size(advice, decode)) advice.add(*std::move(proposal));
  } catch (const Json::exception&) {  // A recording that somebody wrote by hand.
    return;
  }
}

}  // namespace cachebisect
