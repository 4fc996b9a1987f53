// cache.disk: keeps samples in a file, for later epochs and later runs.
#include <memory>
#include <string>

#include "stages/support/disk_store.hpp"
#include "stages/support/stored_cache.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/source_print.hpp"

namespace cachebisect::stages {
namespace {

class CacheDisk final : public StoredCache {
 public:
  explicit CacheDisk(const Params& params)
      : StoredCache(params), folder_(params.string("path")), version_(params.string("version")) {
    if (limit_bytes_ >= kLeastDiskLimit) return;
    throw Error(ErrorKind::usage, "limit_gb is " + format_bytes(static_cast<double>(limit_bytes_)) +
                                      "; it must be 0.017 or more");
  }

  void set_origin(const CacheOrigin& origin) override { origin_ = origin; }

  void open() override {
    const std::string own = version_.empty() ? "" : "version " + version_ + "\n";
    store_ = opened({.folder = folder_,
                     .limit_bytes = limit_bytes_,
                     .eviction = eviction_,
                     .content = own + content_of(origin_)});
  }

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

  std::string folder_;
  std::string version_;
  CacheOrigin origin_;
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
                  limit_param("what the file may take, in GB of 10^9 bytes; 0.017 or more", 1e6),
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
