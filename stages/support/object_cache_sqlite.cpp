#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "stages/support/blob_file.hpp"
#include "stages/support/object_cache.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cachebisect::stages {
namespace {

constexpr std::int32_t kObjectsMark = 0x43424F31;  // "CBO1"
constexpr std::size_t kTouchedObjects = 64;        ///< uses after which they are written down
/// A file with more errors than this is left alone.
constexpr int kMostErrors = 16;

BlobKey key_of(const ObjectRange& range, std::size_t bytes) {
  const std::string text =
      range.object + '\n' + std::to_string(range.offset) + ' ' + std::to_string(bytes);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {.id = static_cast<std::int64_t>(hash.low64), .seed = hash.high64};
}

class ObjectCache final : public ByteCache {
 public:
  explicit ObjectCache(const ObjectCacheOptions& options)
      : file_({.folder = options.folder,
               .name = "objects.sqlite",
               .limit_bytes = options.limit_bytes,
               .content = "ranges of objects of servers, format 1\n",
               .mark = kObjectsMark}),
        // By the clock, as several processes use the file; and after what is in it.
        opened_(std::max(now(), 1 + file_.last_use())) {}

  bool find(const ObjectRange& range, std::span<std::byte> first,
            std::span<std::byte> second) noexcept override {
    bool found = false;
    in_file([&] {
      const BlobKey key = key_of(range, first.size() + second.size());
      bool is_older = false;
      found = file_.find(key, [&](std::span<const std::byte> bytes, std::int64_t used) {
        if (bytes.size() != first.size() + second.size()) return false;
        std::ranges::copy(bytes.first(first.size()), first.begin());
        std::ranges::copy(bytes.subspan(first.size()), second.begin());
        is_older = used < opened_;
        return true;
      });
      if (found && is_older) touch(key.id);
    });
    return found;
  }

  void keep(const ObjectRange& range, std::span<const std::byte> first,
            std::span<const std::byte> second) noexcept override {
    if (full_.load(std::memory_order_relaxed)) return;
    in_file([&] {
      const auto kept = file_.keep(key_of(range, first.size() + second.size()), opened_, opened_,
                                   [&](std::vector<std::byte>& bytes) {
                                     bytes.assign(first.begin(), first.end());
                                     bytes.insert(bytes.end(), second.begin(), second.end());
                                   });
      if (kept == BlobFile::Kept::no_room) full_ = true;
    });
  }

 private:
  /// Microseconds since 1970.
  static std::int64_t now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }

  /// What goes wrong with the file is no error of the data, which the server still has.
  template <class Work>
  void in_file(const Work& work) noexcept {
    if (errors_ > kMostErrors) return;
    try {
      try {
        work();
      } catch (const SqliteError& error) {
        ++errors_;
        if (error.is_damaged()) static_cast<void>(file_.empty());
      }
    } catch (const std::exception&) {  // Not even emptied; or no memory.
      ++errors_;
    }
  }

  void touch(std::int64_t id) {
    std::vector<std::int64_t> used;
    {
      const std::scoped_lock lock(mutex_);
      touched_.push_back(id);
      if (touched_.size() < kTouchedObjects) return;
      used.swap(touched_);
    }
    file_.touch(used, opened_);
  }

  BlobFile file_;
  std::int64_t opened_;
  std::atomic<bool> full_ = false;
  std::atomic<int> errors_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::int64_t> touched_;
};

}  // namespace

std::shared_ptr<ByteCache> open_object_cache(const ObjectCacheOptions& options) {
  return std::make_shared<ObjectCache>(options);
}

}  // namespace cachebisect::stages
