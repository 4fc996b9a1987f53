#include "stages/support/eviction_param.hpp"

#include <string>

namespace cachebisect::stages {

ParamSpec eviction_param() {
  return {.name = "evict",
          .type = ParamType::string,
          .doc =
              "what goes when the limit is reached: nothing, the oldest, or what was not used "
              "for longest",
          .default_value = "none",
          .choices = {"none", "fifo", "lru"}};
}

Eviction eviction_of(const Params& params) {
  const std::string& name = params.string("evict");
  if (name == "fifo") return Eviction::fifo;
  return name == "lru" ? Eviction::lru : Eviction::none;
}

ParamSpec frozen_param() {
  return {.name = "frozen",
          .type = ParamType::boolean,
          .doc =
              "allows random stages before it, whose draws are then the same in every epoch: "
              "this changes training",
          .default_value = false};
}

}  // namespace cachebisect::stages
