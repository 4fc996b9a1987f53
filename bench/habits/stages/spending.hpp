// Shared by the stages with habits: their parameters, and how they spend time.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::habits {

/// A required number from `minimum` to `maximum`.
ParamSpec number_param(std::string name, std::string doc, double minimum, double maximum);
/// A required whole number from `minimum` to `maximum`.
ParamSpec count_param(std::string name, std::string doc, double minimum, double maximum);
/// the parameter `spends`.
ParamSpec spends_param();

/// Spends time as the parameter `spends` says: asleep ("wait"), or on a core ("cpu").
class Spending {
 public:
  explicit Spending(const Params& params) : burns_(params.string("spends") == "cpu") {}
  /// On average over the calls of a worker (PaceOfThread).
  void spend(double seconds) const;

 private:
  bool burns_;
};

/// A sample stage that passes its input through and spends time. Its type declares `spends`.
class SpendingStage : public SampleStage {
 public:
  explicit SpendingStage(const Params& params) : spending_(params) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) final { return input; }
  void process(const Sample& input, Sample& out, const SampleContext& context) const final;

  /// What the stage spends on this sample when it is visited now. Counts as a visit. Throws
  /// Error(data) for a damaged sample. Thread safe.
  [[nodiscard]] virtual double seconds(const SampleContext& context) const = 0;

 private:
  Spending spending_;
};

/// The type of a sample stage of class `Kind`, without traits.
template <class Kind>
StageType stage_type(std::string type, std::string doc, std::vector<ParamSpec> params,
                     std::string example) {
  return {.type = std::move(type),
          .doc = std::move(doc),
          .kind = StageKind::sample,
          .params = std::move(params),
          .example = std::move(example),
          .make = [](const Params& given) { return std::make_unique<Kind>(given); }};
}

/// The type of a SpendingStage of class `Kind`, which is planted.
template <class Kind>
StageType spending_type(std::string type, std::string doc, std::vector<ParamSpec> params,
                        std::string example) {
  params.push_back(spends_param());
  StageType made =
      stage_type<Kind>(std::move(type), std::move(doc), std::move(params), std::move(example));
  made.traits.planted = true;
  return made;
}

}  // namespace cachebisect::habits
