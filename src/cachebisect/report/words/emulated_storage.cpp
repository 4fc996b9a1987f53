#include "cachebisect/report/words/emulated_storage.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// 0 if it is not there.
double number_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

std::string emulated_storage_text(const std::string& effective_json) {
  constexpr double kPerThousand = 1e-3;
  constexpr double kMegabyte = 1e6;
  const auto spec = nlohmann::json::parse(effective_json, nullptr, false);
  const nlohmann::json::json_pointer place("/emulate/storage");
  if (!spec.is_object() || !spec.contains(place) || !spec[place].is_object()) return "";
  const nlohmann::json& storage = spec[place];
  std::string text = short_duration(kPerThousand * number_at(storage, "latency_ms"));
  const double bandwidth = number_at(storage, "bandwidth_mb_per_s");
  if (bandwidth > 0) text += ", " + format_bytes(kMegabyte * bandwidth) + "/s";
  const double rate = number_at(storage, "requests_per_second");
  if (rate > 0) text += ", " + format_number(rate) + " requests/s";
  return text;
}

}  // namespace cachebisect
