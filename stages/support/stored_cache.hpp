// What caches of samples have in common: a store, its limit, and their parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stages/support/sample_store.hpp"

#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// `limit_gb`, in GB of 10^9 bytes. `doc`: what is limited; `maximum`: in GB.
[[nodiscard]] ParamSpec limit_param(const char* doc, double maximum);
[[nodiscard]] ParamSpec eviction_param();
[[nodiscard]] ParamSpec frozen_param();

/// Serves from `store_`, which a cache sets before the first sample.
class StoredCache : public CacheStage {
 public:
  bool find(SampleIndex index, Sample& out) const override { return store_->find(index, out); }
  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    return store_->held(index);
  }
  [[nodiscard]] CacheUse use() const override { return store_->use(); }
  [[nodiscard]] bool frozen() const noexcept override { return frozen_; }

 protected:
  /// `params`: with all that is declared above.
  explicit StoredCache(const Params& params);

  std::uint64_t limit_bytes_;
  Eviction eviction_;
  std::unique_ptr<SampleStore> store_;

 private:
  void keep(const Sample& sample) const override { store_->keep(sample); }

  bool frozen_;
};

}  // namespace cachebisect::stages
