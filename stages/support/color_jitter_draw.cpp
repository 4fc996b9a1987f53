#include "stages/support/color_jitter_draw.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace cachebisect::stages {
namespace {

ParamSpec amount(std::string name, std::string doc, std::optional<double> maximum) {
  return {.name = std::move(name),
          .type = ParamType::number,
          .doc = std::move(doc),
          .default_value = 0.0,
          .minimum = 0,
          .maximum = maximum};
}

}  // namespace

std::vector<ParamSpec> color_jitter_params() {
  constexpr double kMaxAmount = 100;
  return {amount("brightness", "factor from max(0, 1 - b) to 1 + b", kMaxAmount),
          amount("contrast", "factor from max(0, 1 - c) to 1 + c", kMaxAmount),
          amount("saturation", "factor from max(0, 1 - s) to 1 + s", kMaxAmount),
          amount("hue", "shift from -h to h, in full turns", 0.5)};
}

ColorJitterDraw::ColorJitterDraw(const Params& params) {
  const auto active = [](double amount, ColorOp op) { return amount > 0 ? op : ColorOp::none; };
  const auto around_one = [&](const char* name, ColorOp op) -> Choice {
    const double amount = params.number(name);
    return {active(amount, op), {std::max(0.0, 1 - amount), 1 + amount}};
  };
  const double hue = params.number("hue");
  choices_ = {around_one("brightness", ColorOp::brightness),
              around_one("contrast", ColorOp::contrast),
              around_one("saturation", ColorOp::saturation),
              Choice{active(hue, ColorOp::hue), {-hue, hue}}};
}

ColorChanges ColorJitterDraw::draw(RandomStream random) const {
  std::array<std::size_t, ColorChanges::kCount> order{0, 1, 2, 3};
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i + 1)]);
  ColorChanges changes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Choice& choice = choices_[order[i]];
    changes.ops[i] = choice.op;
    changes.factors[i] = static_cast<float>(random.uniform(choice.factor.low, choice.factor.high));
  }
  return changes;
}

}  // namespace cachebisect::stages
