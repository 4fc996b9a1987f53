#include "cachebisect/replay/loop/loader_feeds.hpp"

namespace cachebisect {

DeviceFeed* LoaderFeeds::feed_of(const StepSource& source, Stream& compute) {
  if (source.loader == nullptr) return nullptr;
  if (live_ == nullptr) make(*source.loader, compute);
  if (loader_ != source.loader) use(*source.loader);
  if (source.paced) return paced_.get();
  const bool copy_bypassed =
      !source.cached.empty() && source.boundary == pipeline_->copy_position() + 1;
  return copy_bypassed ? dropping_.get() : live_.get();
}

void LoaderFeeds::clear() {
  loader_ = nullptr;
  live_.reset();
  paced_.reset();
  dropping_.reset();
  copier_.reset();
}

void LoaderFeeds::make(Executor& loader, Stream& compute) {
  loader_ = &loader;
  if (device_->copies()) {
    const ChainStage& copy = pipeline_->stages()[pipeline_->copy_position()];
    copier_ = std::make_unique<BatchCopier>(loader, *device_, compute, steps_->size(), copy, copy_,
                                            pipeline_->spec().train.spin);
    live_ = std::make_unique<CopyFeed>(loader, *copier_, *steps_);
    paced_ = std::make_unique<PacedCopyFeed>(loader, *copier_, *steps_);
  } else {
    live_ = std::make_unique<HandOverFeed>(loader, false);
    paced_ = std::make_unique<HandOverFeed>(loader, true);
  }
  dropping_ = std::make_unique<DropFeed>(loader);
}

void LoaderFeeds::use(Executor& loader) {
  loader_ = &loader;
  if (copier_) copier_->use(loader);
  for (DeviceFeed* feed : {live_.get(), paced_.get(), dropping_.get()}) feed->use(loader);
}

}  // namespace cachebisect
