// What can free memory of a device when there is no room.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cachebisect::cuda {

/// Thread safe.
class ReleaseList {
 public:
  /// `release` stays in the list while the result lives.
  [[nodiscard]] std::shared_ptr<const void> add(std::function<void()> release) {
    auto entry = std::make_shared<const std::function<void()>>(std::move(release));
    const std::scoped_lock lock(mutex_);
    std::erase_if(entries_, [](const auto& old) { return old.expired(); });
    entries_.push_back(entry);
    return entry;
  }
  /// Calls all of them.
  void run() {
    for (const auto& entry : entries()) {
      if (const auto release = entry.lock()) (*release)();
    }
  }

 private:
  using Entry = std::weak_ptr<const std::function<void()>>;

  /// A copy: a release may end the life of others.
  [[nodiscard]] std::vector<Entry> entries() {
    const std::scoped_lock lock(mutex_);
    return entries_;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace cachebisect::cuda
