// cache.disk: keeps samples in a file, for later epochs and later runs.
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "stages/support/disk_store.hpp"
#include "stages/support/eviction_param.hpp"
#include "stages/support/source_print.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr double kBytesPerGb = 1e9;

class CacheDisk final : public CacheStage {
 public:
  explicit CacheDisk(const Params& params)
      : version_(params.string("version")), frozen_(params.boolean("frozen")) {
    options_.folder = params.string("path");
    options_.limit_bytes =
        static_cast<std::uint64_t>(std::llround(params.number("limit_gb") * kBytesPerGb));
    options_.eviction = eviction_of(params);
    if (options_.limit_bytes < kLeastDiskLimit) {
      throw Error(ErrorKind::usage, "limit_gb is " +
                                        format_bytes(params.number("limit_gb") * kBytesPerGb) +
                                        "; it must be 0.017 or more");
    }
  }

  void set_origin(const CacheOrigin& origin) override { origin_ = origin; }

  void open() override {
    std::string content = "cachebisect " + std::string(version()) + "\n";
    if (!version_.empty()) content += "version " + version_ + "\n";
    if (origin_.source != nullptr) content += fingerprint(*origin_.source) + "\n";
    options_.content = content + origin_.stages;
    store_ = opened(options_);
  }

  bool find(SampleIndex index, Sample& out) const override { return store_->find(index, out); }
  [[nodiscard]] CacheUse use() const override { return store_->use(); }
  [[nodiscard]] bool frozen() const noexcept override { return frozen_; }

 private:
  static std::unique_ptr<SampleStore> opened(const DiskStoreOptions& options) {
#ifdef CACHEBISECT_WITH_SQLITE
    return open_disk_store(options);
#else
    static_cast<void>(options);
    throw Error(ErrorKind::usage,
                "this build has no SQLite; build with CACHEBISECT_WITH_SQLITE=ON, or use "
                "cache.memory");
#endif
  }

  void keep(const Sample& sample) const override { store_->keep(sample); }

  std::string version_;
  bool frozen_;
  DiskStoreOptions options_;
  CacheOrigin origin_;
  std::unique_ptr<SampleStore> store_;
};

}  // namespace

void register_cache_disk(Registry& registry) {
  registry.add(
      {.type = "cache.disk",
       .doc = "Keeps samples in one file of a local disk, for later epochs and later runs",
       .kind = StageKind::sample,
       .traits = {.allocates = true, .caches = true},
       .params = {{.name = "path",
                   .type = ParamType::path,
                   .doc = "folder of the file; made if it is missing"},
                  {.name = "limit_gb",
                   .type = ParamType::number,
                   .doc = "what the file may take, in GB of 10^9 bytes; 0.017 or more",
                   .minimum = 0,
                   .maximum = 1e6,
                   .exclusive_minimum = true},
                  eviction_param(),
                  frozen_param(),
                  {.name = "version",
                   .type = ParamType::string,
                   .doc = "what else tells these samples from others, such as the state of code "
                          "that is no stage of a file",
                   .default_value = ""}},
       .example = R"({"path": "samples", "limit_gb": 0.25})",
       .make = [](const Params& params) { return std::make_unique<CacheDisk>(params); }});
}

}  // namespace cachebisect::stages
