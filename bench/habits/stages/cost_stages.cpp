// Stages whose cost varies: by draw, by content, by time, in rare stalls, with damaged samples.
#include <atomic>

#include "bench/habits/stages/changing_cost.hpp"
#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/sample_costs.hpp"
#include "bench/habits/stages/spending.hpp"

#include "cachebisect/base/clock.hpp"

namespace cachebisect::habits {
namespace {

ParamSpec us_param() { return number_param("us", "mean cost per sample, in microseconds", 0, 1e7); }

ParamSpec variant_param() {
  return count_param("variant", "chooses the samples that are costly or damaged", 0, 1e12);
}

std::uint64_t variant_of(const Params& params) {
  return static_cast<std::uint64_t>(params.integer("variant"));
}

class Rare final : public SpendingStage {
 public:
  explicit Rare(const Params& params)
      : SpendingStage(params),
        seconds_(1e-3 * params.number("ms")),
        share_(params.number("share")),
        by_index_(params.string("by") == "index") {}

  [[nodiscard]] double seconds(const SampleContext& context) const override {
    const bool slow = by_index_ ? is_chosen(context.index(), share_, context.stage_key())
                                : context.random().uniform() < share_;
    return slow ? seconds_ : 0;
  }

 private:
  double seconds_;
  double share_;
  bool by_index_;
};

class Content final : public SpendingStage {
 public:
  explicit Content(const Params& params)
      : SpendingStage(params),
        seconds_(1e-6 * params.number("us")),
        factors_(params.number("cv"), variant_of(params)) {}

  [[nodiscard]] double seconds(const SampleContext& context) const override {
    return seconds_ * factors_.of(context.index());
  }

 private:
  double seconds_;
  ContentFactors factors_;
};

class Stall final : public SpendingStage {
 public:
  explicit Stall(const Params& params)
      : SpendingStage(params),
        seconds_(1e-3 * params.number("ms")),
        every_(static_cast<std::uint64_t>(params.integer("every"))) {}

  [[nodiscard]] double seconds(const SampleContext& /*context*/) const override {
    return visits_.fetch_add(1, std::memory_order_relaxed) % every_ == every_ - 1 ? seconds_ : 0;
  }

 private:
  double seconds_;
  std::uint64_t every_;
  mutable std::atomic<std::uint64_t> visits_{0};
};

class Change final : public SpendingStage {
 public:
  explicit Change(const Params& params)
      : SpendingStage(params),
        cost_(1e-6 * params.number("us"), params.number("factor"), params.number("after_seconds")) {
  }

  [[nodiscard]] double seconds(const SampleContext& /*context*/) const override {
    return cost_.at(monotonic_seconds());
  }

 private:
  mutable ChangingCost cost_;
};

class Damaged final : public SpendingStage {
 public:
  explicit Damaged(const Params& params)
      : SpendingStage(params),
        seconds_(1e-6 * params.number("us")),
        share_(params.number("share")),
        variant_(variant_of(params)) {}

  [[nodiscard]] double seconds(const SampleContext& context) const override {
    if (is_chosen(context.index(), share_, variant_)) {
      throw Error(ErrorKind::data, "the sample is damaged");
    }
    return seconds_;
  }

 private:
  double seconds_;
  double share_;
  std::uint64_t variant_;
};

StageType rare_type() {
  StageType type = spending_type<Rare>(
      "habit.rare", "Costs `ms` for a share of the samples, nothing for the others",
      {number_param("ms", "cost of a slow sample, in milliseconds", 0, 1e5),
       number_param("share", "share of the samples that are slow", 0, 1),
       {.name = "by",
        .type = ParamType::string,
        .doc = "what makes a sample slow: a draw at each visit, or its index",
        .default_value = std::string("draw"),
        .choices = {"draw", "index"}}},
      R"({"ms": 1, "share": 0.1})");
  type.traits.random = true;
  return type;
}

StageType stall_type() {
  StageType type =
      spending_type<Stall>("habit.stall", "Stalls for `ms` once in `every` samples",
                           {number_param("ms", "length of a stall, in milliseconds", 0, 1e5),
                            count_param("every", "samples from stall to stall", 1, 1e9)},
                           R"({"ms": 1, "every": 640})");
  type.traits.stateful = true;
  return type;
}

}  // namespace

void register_cost_stages(Registry& registry) {
  registry.add(rare_type());
  registry.add(stall_type());
  registry.add(spending_type<Content>(
      "habit.content", "Costs what the content of the sample asks for, fixed by its index",
      {us_param(), number_param("cv", "standard deviation over mean", 0, 10), variant_param()},
      R"({"us": 5, "cv": 1, "variant": 1})"));
  registry.add(spending_type<Change>(
      "habit.change", "Costs `us`, and `factor` times as much some time after its first sample",
      {us_param(), number_param("factor", "how much the cost grows", 0, 1000),
       number_param("after_seconds", "seconds from the first sample to the change", 0, 1e6)},
      R"({"us": 5, "factor": 2, "after_seconds": 1})"));
  registry.add(spending_type<Damaged>(
      "habit.damaged", "Rejects a share of the samples as damaged, fixed by their index",
      {us_param(), number_param("share", "share of the samples that are damaged", 0, 1),
       variant_param()},
      R"({"us": 5, "share": 0, "variant": 1})"));
}

}  // namespace cachebisect::habits
