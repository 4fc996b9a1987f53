// cache.memory: keeps samples in memory, so that no stage before it runs for them again.
#include <cmath>
#include <memory>
#include <string>

#include "stages/support/eviction_param.hpp"
#include "stages/support/sample_store.hpp"

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr double kBytesPerGb = 1e9;

class CacheMemory final : public CacheStage {
 public:
  explicit CacheMemory(const Params& params)
      : limit_bytes_(
            static_cast<std::uint64_t>(std::llround(params.number("limit_gb") * kBytesPerGb))),
        frozen_(params.boolean("frozen")),
        store_(make_sample_store(limit_bytes_, eviction_of(params))) {}

  void open() override {
    const double available = available_memory().available_bytes;
    if (available == 0 || static_cast<double>(limit_bytes_) <= available) return;
    throw Error(ErrorKind::usage, "limit_gb is " + format_bytes(static_cast<double>(limit_bytes_)) +
                                      ", and " + format_bytes(available) +
                                      " of memory are available; lower the limit");
  }

  bool find(SampleIndex index, Sample& out) const override { return store_->find(index, out); }
  [[nodiscard]] CacheUse use() const override { return store_->use(); }
  [[nodiscard]] bool frozen() const noexcept override { return frozen_; }

 private:
  void keep(const Sample& sample) const override { store_->keep(sample); }

  std::uint64_t limit_bytes_;
  bool frozen_;
  std::unique_ptr<SampleStore> store_;
};

}  // namespace

void register_cache_memory(Registry& registry) {
  registry.add(
      {.type = "cache.memory",
       .doc = "Keeps samples in memory: the stages before it run once for each of them",
       .kind = StageKind::sample,
       .traits = {.allocates = true, .caches = true},
       .params = {{.name = "limit_gb",
                   .type = ParamType::number,
                   .doc = "memory that it may take, in GB of 10^9 bytes",
                   .minimum = 0,
                   .maximum = 1e5,
                   .exclusive_minimum = true},
                  eviction_param(),
                  frozen_param()},
       .example = R"({"limit_gb": 0.25})",
       .make = [](const Params& params) { return std::make_unique<CacheMemory>(params); }});
}

}  // namespace cachebisect::stages
