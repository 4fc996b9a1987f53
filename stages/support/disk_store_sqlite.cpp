#include <atomic>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "stages/support/blob_file.hpp"
#include "stages/support/disk_store.hpp"
#include "stages/support/sample_bytes.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kTouched = 64;  ///< uses after which lru writes them down

class DiskStore final : public SampleStore {
 public:
  explicit DiskStore(const DiskStoreOptions& options)
      : file_({.folder = options.folder,
               .name = "cache.sqlite",
               .limit_bytes = options.limit_bytes,
               .content = options.content}),
        eviction_(options.eviction),
        next_use_(1 + file_.last_use()) {}

  void keep(const Sample& sample) override {
    if (full_.load(std::memory_order_relaxed)) return;
    const std::int64_t evicted =
        eviction_ == Eviction::none ? 0 : std::numeric_limits<std::int64_t>::max();
    in_file([&] {
      const auto kept = file_.keep(key_of(sample.index()), next_use_++, evicted,
                                   [&](std::vector<std::byte>& bytes) { to_bytes(sample, bytes); });
      if (kept == BlobFile::Kept::no_room && eviction_ == Eviction::none) full_ = true;
    });
  }

  bool find(SampleIndex index, Sample& out) override {
    bool found = false;
    in_file([&] {
      found = file_.find(key_of(index), [&](std::span<const std::byte> bytes, std::int64_t) {
        return from_bytes(bytes, out);
      });
      if (found && eviction_ == Eviction::lru) touch(index);
    });
    if (found) out.set_index(index);
    return found;
  }

  [[nodiscard]] CacheUse use() const override {
    CacheUse use;
    in_file([&] { use = file_.held(); });
    use.full = full_ || file_.has_evicted();
    return use;
  }

 private:
  static BlobKey key_of(SampleIndex index) noexcept {
    return {.id = static_cast<std::int64_t>(index.value), .seed = index.value};
  }

  /// Throws Error(data).
  template <class Work>
  void in_file(const Work& work) const {
    try {
      work();
    } catch (const SqliteError& error) {
      throw Error(ErrorKind::data, "the cache " + file_.path() +
                                       " cannot be used: " + error.what() + "; remove its folder");
    }
  }

  /// Notes the use. Where it cannot be written now, the order is a little older.
  void touch(SampleIndex index) {
    std::vector<std::int64_t> used;
    {
      const std::scoped_lock lock(mutex_);
      touched_.push_back(static_cast<std::int64_t>(index.value));
      if (touched_.size() < kTouched) return;
      used.swap(touched_);
    }
    const auto uses = static_cast<std::int64_t>(used.size());
    file_.touch(used, next_use_.fetch_add(uses));
  }

  BlobFile file_;
  Eviction eviction_;
  std::atomic<bool> full_ = false;
  std::atomic<std::int64_t> next_use_;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::int64_t> touched_;
};

}  // namespace

std::unique_ptr<SampleStore> open_disk_store(const DiskStoreOptions& options) {
  return std::make_unique<DiskStore>(options);
}

}  // namespace cachebisect::stages
