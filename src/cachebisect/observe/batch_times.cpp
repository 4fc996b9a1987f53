#include "cachebisect/observe/batch_times.hpp"

namespace cachebisect {

std::string_view to_string(TimePart part) noexcept {
  constexpr std::array<std::string_view, kTimeParts> kNames{
      "load", "copy", "forward", "backward", "optimizer", "step", "other"};
  return kNames.at(static_cast<std::size_t>(part));
}

std::string_view to_string(LoopEnd end) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"epochs", "max_batches", "max_seconds", "script",
                                                   "interrupted"};
  return kNames.at(static_cast<std::size_t>(end));
}

}  // namespace cachebisect
