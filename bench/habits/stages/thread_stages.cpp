// Stages whose time depends on other threads: a pool of their own, a mutex that all workers share.
#include <mutex>

#include "bench/habits/stages/job_pool.hpp"
#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/spending.hpp"

#include "cachebisect/base/pace.hpp"

namespace cachebisect::habits {
namespace {

/// A sample stage that passes its input through.
class PassingStage : public SampleStage {
 public:
  explicit PassingStage(const Params& params)
      : seconds_(1e-6 * params.number("us")), spending_(params) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) final { return input; }

 protected:
  /// Spends part of the cost on the calling thread, exactly as long as asked for.
  void spend(double share) const {
    const PaceOfThread none(nullptr);
    spending_.spend(share * seconds_);
  }
  [[nodiscard]] bool is_free() const noexcept { return seconds_ <= 0; }

 private:
  double seconds_;
  Spending spending_;
};

class Pool final : public PassingStage {
 public:
  explicit Pool(const Params& params)
      : PassingStage(params), threads_(static_cast<int>(params.integer("threads"))) {}

  void open() override { pool_ = std::make_unique<JobPool>(threads_); }
  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    if (!is_free()) pool_->run(threads_, [this] { spend(1.0 / threads_); });
  }

 private:
  int threads_;
  std::unique_ptr<JobPool> pool_;
};

class SharedLock final : public PassingStage {
 public:
  using PassingStage::PassingStage;

  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    const std::scoped_lock lock(mutex_);
    if (!is_free()) spend(1);
  }

 private:
  mutable std::mutex mutex_;
};

template <class Kind>
StageType costly_type(std::string type, std::string doc, std::vector<ParamSpec> params,
                      std::string example) {
  params.push_back(number_param("us", "cost per sample, in microseconds", 0, 1e7));
  params.push_back(spends_param());
  return stage_type<Kind>(std::move(type), std::move(doc), std::move(params), std::move(example));
}

}  // namespace

void register_thread_stages(Registry& registry) {
  registry.add(
      costly_type<Pool>("habit.pool", "Divides its work among threads of its own",
                        {count_param("threads", "threads that share a sample's work", 1, 256)},
                        R"({"us": 5, "threads": 2})"));
  registry.add(costly_type<SharedLock>(
      "habit.shared_lock", "Works with a mutex held that all workers share", {}, R"({"us": 5})"));
}

}  // namespace cachebisect::habits
