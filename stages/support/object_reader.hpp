// What sources over objects of a server have in common: their store, and the samples read from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/remote_source.hpp"

namespace cachebisect::stages {

/// A base of sources. Reads files, without anything to count, until it is given a store.
class ObjectReader : public RemoteSource {
 public:
  [[nodiscard]] std::optional<RequestCounts> request_counts() const override {
    if (!is_remote()) return std::nullopt;
    RequestCounts counts = store_->counts();
    counts.samples = samples_read_;
    return counts;
  }

 protected:
  /// Null: the samples lie in files.
  void set_store(std::shared_ptr<const RemoteStore> store) noexcept { store_ = std::move(store); }
  [[nodiscard]] bool is_remote() const noexcept { return store_ != nullptr; }
  /// A sample is read.
  void count_sample() const noexcept {
    if (is_remote()) ++samples_read_;
  }

 private:
  std::shared_ptr<const RemoteStore> store_;
  mutable std::atomic<std::uint64_t> samples_read_{0};
};

}  // namespace cachebisect::stages
