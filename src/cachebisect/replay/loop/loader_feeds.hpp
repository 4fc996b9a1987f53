// The feeds of the loaders that the training loop uses, and the device buffers that they share.
#pragma once

#include <memory>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/batch_copier.hpp"
#include "cachebisect/replay/loop/device_feed.hpp"
#include "cachebisect/replay/loop/step_source.hpp"

namespace cachebisect {

/// Made when a loader is first used. Used by the training thread alone.
class LoaderFeeds {
 public:
  /// Keeps references to all but the options.
  LoaderFeeds(const Pipeline& pipeline, Device& device, StepEvents& steps, const CopyOptions& copy)
      : pipeline_(&pipeline), device_(&device), steps_(&steps), copy_(copy) {}

  /// The feed that takes the loader's batches in a block from this source; null without a loader.
  DeviceFeed* feed_of(const StepSource& source, Stream& compute);
  /// The loader of the last block that had one; null before the first.
  [[nodiscard]] Executor* loader() const noexcept { return loader_; }
  /// Null if the device reads host memory itself.
  [[nodiscard]] BatchCopier* copier() const noexcept { return copier_.get(); }
  /// Forgets the loader, the feeds and the copy stream.
  void clear();

 private:
  void make(Executor& loader, Stream& compute);
  void use(Executor& loader);

  const Pipeline* pipeline_;
  Device* device_;
  StepEvents* steps_;
  CopyOptions copy_;
  Executor* loader_ = nullptr;
  std::unique_ptr<BatchCopier> copier_;
  std::unique_ptr<DeviceFeed> live_;
  std::unique_ptr<DeviceFeed> paced_;
  std::unique_ptr<DeviceFeed> dropping_;
};

}  // namespace cachebisect
