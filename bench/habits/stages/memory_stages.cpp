// Stages that remember: samples that they have seen, threads that they have run on.
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>

#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/seen_set.hpp"
#include "bench/habits/stages/spending.hpp"

namespace cachebisect::habits {
namespace {

class Remember final : public SpendingStage {
 public:
  explicit Remember(const Params& params)
      : SpendingStage(params),
        first_(1e-6 * params.number("us")),
        again_(1e-6 * params.number("again_us")),
        seen_(static_cast<std::uint64_t>(params.integer("samples"))) {}

  [[nodiscard]] double seconds(const SampleContext& context) const override {
    return seen_.insert(context.index()) ? first_ : again_;
  }

 private:
  double first_;
  double again_;
  mutable SeenSet seen_;
};

class FirstUse final : public SpendingStage {
 public:
  explicit FirstUse(const Params& params)
      : SpendingStage(params), seconds_(1e-3 * params.number("ms")) {}

  [[nodiscard]] double seconds(const SampleContext& /*context*/) const override {
    const std::thread::id self = std::this_thread::get_id();
    {
      const std::shared_lock reading(mutex_);
      if (threads_.contains(self)) return 0;
    }
    const std::scoped_lock writing(mutex_);
    threads_.insert(self);
    return seconds_;
  }

 private:
  double seconds_;
  mutable std::shared_mutex mutex_;
  mutable std::set<std::thread::id> threads_;
};

StageType remember_type(std::string type, std::string doc) {
  return spending_type<Remember>(
      std::move(type), std::move(doc),
      {number_param("us", "cost of a sample's first visit, in microseconds", 0, 1e7),
       number_param("again_us", "cost of its later visits, in microseconds", 0, 1e7),
       count_param("samples", "samples in the data set", 1, 1e12)},
      R"({"us": 5, "again_us": 1, "samples": 100000})");
}

}  // namespace

void register_memory_stages(Registry& registry) {
  registry.add(remember_type("habit.remember", "Remembers samples: only first visits are costly"));
  StageType declared = remember_type("habit.remember_declared",
                                     "Remembers samples, and declares that it keeps state");
  declared.traits.stateful = true;
  registry.add(std::move(declared));
  registry.add(spending_type<FirstUse>(
      "habit.first_use", "Costs `ms` for the first sample on each thread, nothing afterwards",
      {number_param("ms", "cost of the first sample on a thread, in milliseconds", 0, 1e5)},
      R"({"ms": 1})"));
}

}  // namespace cachebisect::habits
