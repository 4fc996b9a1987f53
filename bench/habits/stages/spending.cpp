#include "bench/habits/stages/spending.hpp"

#include "cachebisect/base/pace.hpp"

namespace cachebisect::habits {

ParamSpec number_param(std::string name, std::string doc, double minimum, double maximum) {
  return {.name = std::move(name),
          .type = ParamType::number,
          .doc = std::move(doc),
          .minimum = minimum,
          .maximum = maximum};
}

ParamSpec count_param(std::string name, std::string doc, double minimum, double maximum) {
  ParamSpec spec = number_param(std::move(name), std::move(doc), minimum, maximum);
  spec.type = ParamType::integer;
  return spec;
}

ParamSpec spends_param() {
  return {.name = "spends",
          .type = ParamType::string,
          .doc = "how the time is spent: asleep, or on a core",
          .default_value = std::string("wait"),
          .choices = {"wait", "cpu"}};
}

void Spending::spend(double seconds) const {
  if (burns_) {
    burn_cpu(seconds);
  } else {
    pass_wait(seconds);
  }
}

void SpendingStage::process(const Sample& /*input*/, Sample& /*out*/,
                            const SampleContext& context) const {
  spending_.spend(seconds(context));
}

}  // namespace cachebisect::habits
