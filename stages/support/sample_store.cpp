#include "stages/support/sample_store.hpp"

#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "stages/support/fixed_store.hpp"

namespace cachebisect::stages {
namespace {

/// Bytes that a kept sample takes, with what manages them.
std::uint64_t bytes_held(const Sample& sample) noexcept {
  std::uint64_t bytes = sizeof(Sample) + sample.fields().capacity() * sizeof(Sample::NamedField);
  for (const Sample::NamedField& named : sample.fields()) bytes += named.field.capacity();
  return bytes;
}

/// Samples that go: to make room, the oldest or the one that was not used for longest; after they
/// have served often enough, each.
class EvictingStore final : public SampleStore {
 public:
  EvictingStore(std::uint64_t limit_bytes, Eviction eviction, std::uint64_t reuse)
      : eviction_(eviction), reuse_(reuse) {
    use_.limit_bytes = limit_bytes;
  }

  void keep(const Sample& sample) override {
    Entry entry;
    entry.sample.copy_from(sample);
    entry.bytes = bytes_held(entry.sample) + kEntryBytes;
    const std::uint64_t index = sample.index().value;
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(index);
    if (found != places_.end() && !is_spent(*found->second)) return;
    if (found != places_.end()) {
      remove(found->second);
    } else if (reuse_ > 0) {
      // Else all samples of the first epoch would be made anew in one and the same later one.
      entry.served = index % (reuse_ + 1);
    }
    if (!has_room_for(entry.bytes)) {
      use_.full = true;
      return;
    }
    use_.bytes += entry.bytes;
    ++use_.samples;
    entries_.push_front(std::move(entry));
    places_[index] = entries_.begin();
  }

  bool find(SampleIndex index, Sample& out) override {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(index.value);
    if (found == places_.end() || is_spent(*found->second)) return false;
    ++found->second->served;
    if (eviction_ == Eviction::lru) entries_.splice(entries_.begin(), entries_, found->second);
    out.copy_from(found->second->sample);
    return true;
  }

  [[nodiscard]] CacheUse use() const override {
    const std::lock_guard lock(mutex_);
    return use_;
  }

 private:
  struct Entry {
    Sample sample;
    std::uint64_t bytes = 0;
    std::uint64_t served = 0;
  };
  using Entries = std::list<Entry>;
  /// About what the list and the map take for an entry.
  static constexpr std::uint64_t kEntryBytes = 80;

  [[nodiscard]] bool is_spent(const Entry& entry) const noexcept {
    return reuse_ > 0 && entry.served >= reuse_;
  }

  /// After what has to go is gone.
  bool has_room_for(std::uint64_t bytes) {
    if (bytes > use_.limit_bytes) return false;
    while (use_.bytes + bytes > use_.limit_bytes) {
      if (eviction_ == Eviction::none) return false;
      use_.full = true;
      remove(std::prev(entries_.end()));
    }
    return true;
  }

  void remove(Entries::iterator entry) {
    use_.bytes -= entry->bytes;
    --use_.samples;
    places_.erase(entry->sample.index().value);
    entries_.erase(entry);
  }

  Eviction eviction_;
  std::uint64_t reuse_;  ///< times that a sample serves; 0: no limit
  mutable std::mutex mutex_;
  CacheUse use_;
  Entries entries_;  ///< the next to go is the last
  std::unordered_map<std::uint64_t, Entries::iterator> places_;
};

}  // namespace

std::unique_ptr<SampleStore> make_sample_store(std::uint64_t limit_bytes, Eviction eviction,
                                               std::uint64_t reuse) {
  if (eviction == Eviction::none && reuse == 0) return make_fixed_store(limit_bytes);
  return std::make_unique<EvictingStore>(limit_bytes, eviction, reuse);
}

}  // namespace cachebisect::stages
