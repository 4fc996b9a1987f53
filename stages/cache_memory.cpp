// cache.memory: keeps samples in memory, so that no stage before it runs for them again.
#include <memory>
#include <string>

#include "stages/support/stored_cache.hpp"

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class CacheMemory final : public StoredCache {
 public:
  explicit CacheMemory(const Params& params)
      : StoredCache(params), reuse_(static_cast<std::uint64_t>(params.integer("reuse"))) {
    store_ = make_sample_store(limit_bytes_, eviction_, reuse_);
  }

  [[nodiscard]] bool frozen() const noexcept override {
    return reuse_ > 0 || StoredCache::frozen();
  }

  void open() override {
    const double available = available_memory().available_bytes;
    if (available == 0 || static_cast<double>(limit_bytes_) <= available) return;
    throw Error(ErrorKind::usage, "limit_gb is " + format_bytes(static_cast<double>(limit_bytes_)) +
                                      ", and " + format_bytes(available) +
                                      " of memory are available; lower the limit");
  }

 private:
  std::uint64_t reuse_;
};

}  // namespace

void register_cache_memory(Registry& registry) {
  registry.add(
      {.type = "cache.memory",
       .doc = "Keeps samples in memory: the stages before it run once for each of them",
       .kind = StageKind::sample,
       .traits = {.allocates = true, .caches = true},
       .params = {limit_param("memory that it may take, in GB of 10^9 bytes", 1e5),
                  eviction_param(),
                  frozen_param(),
                  {.name = "reuse",
                   .type = ParamType::integer,
                   .doc = "how often a sample serves before it is made anew; 0: always. Random "
                          "stages may stand before it then: each draw of theirs is trained on so "
                          "many times more, which changes training",
                   .default_value = std::int64_t{0},
                   .minimum = 0,
                   .maximum = 1e6}},
       .example = R"({"limit_gb": 0.25})",
       .make = [](const Params& params) { return std::make_unique<CacheMemory>(params); }});
}

}  // namespace cachebisect::stages
