#include "stages/support/stored_cache.hpp"

#include <cmath>
#include <string>

namespace cachebisect::stages {
namespace {

constexpr double kBytesPerGb = 1e9;

Eviction eviction_of(const Params& params) {
  const std::string& name = params.string("evict");
  if (name == "fifo") return Eviction::fifo;
  return name == "lru" ? Eviction::lru : Eviction::none;
}

}  // namespace

ParamSpec limit_param(const char* doc, double maximum) {
  return {.name = "limit_gb",
          .type = ParamType::number,
          .doc = doc,
          .minimum = 0,
          .maximum = maximum,
          .exclusive_minimum = true};
}

ParamSpec eviction_param() {
  return {.name = "evict",
          .type = ParamType::string,
          .doc =
              "what goes when the limit is reached: nothing, the oldest, or what was not used "
              "for longest",
          .default_value = "none",
          .choices = {"none", "fifo", "lru"}};
}

ParamSpec frozen_param() {
  return {.name = "frozen",
          .type = ParamType::boolean,
          .doc =
              "allows random stages before it, whose draws are then the same in every epoch: "
              "this changes training",
          .default_value = false};
}

StoredCache::StoredCache(const Params& params)
    : limit_bytes_(
          static_cast<std::uint64_t>(std::llround(params.number("limit_gb") * kBytesPerGb))),
      eviction_(eviction_of(params)),
      frozen_(params.boolean("frozen")) {}

}  // namespace cachebisect::stages
