// Values by number in one SQLite file, within a limit: several processes read and write it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stages/support/sqlite_file.hpp"

#include "cachebisect/protocol/cache_use.hpp"

namespace cachebisect::stages {

struct BlobFileOptions {
  std::string folder;  ///< made if it is missing
  std::string name;    ///< of the file in it
  std::uint64_t limit_bytes = 0;
  std::string content;  ///< what the values are of, a fact per line: another text is another file
  /// Written into the head of the file. A file with it that is damaged is emptied when it is
  /// opened; 0: it is refused.
  std::int32_t mark = 0;
};

struct BlobKey {
  std::int64_t id = 0;
  std::uint64_t seed = 0;  ///< of the checksum: tells keys with one number from each other
};

/// A write is one transaction: a process that is killed, or a full disk, leaves what was there
/// before. What does not match its checksum, which covers its key, is not there. Thread safe.
class BlobFile {
 public:
  enum class Kept { yes, not_now, no_room };

  /// Throws Error(usage) if the folder cannot be used, lies on a network file system, or the file
  /// is of something else.
  explicit BlobFile(BlobFileOptions options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The latest use of a value, when the file was opened.
  [[nodiscard]] std::int64_t last_use() const noexcept { return last_use_; }

  /// True if there is a value and take(bytes, use) takes it. Throws SqliteError, as all below;
  /// false while others hold the file.
  template <class Take>
  bool find(const BlobKey& key, const Take& take) const {
    return use([&](Access& access) {
      SqliteStatement& query = access.find;
      query.bind(1, key.id);
      bool found = false;
      if (query.step()) {
        const std::span<const std::byte> bytes = query.bytes(0);
        found = query.number(1) == checksum(key, bytes) && take(bytes, query.number(2));
      }
      query.reset();
      return found;
    });
  }

  /// Stores what fill(bytes) puts into a vector of any size. Values whose use is less than
  /// `evicted` make room, the earliest first.
  template <class Fill>
  Kept keep(const BlobKey& key, std::int64_t used, std::int64_t evicted, const Fill& fill) {
    Kept kept = Kept::not_now;
    use([&](Access& access) {
      fill(access.bytes);
      kept = store(access, key, used, evicted);
      return true;
    });
    return kept;
  }

  /// Notes a use of these values; not if the file is held, or full.
  void touch(const std::vector<std::int64_t>& ids, std::int64_t used);
  /// Removes all values, whatever the file holds. False while others hold it.
  bool empty();

  [[nodiscard]] CacheUse held() const;
  /// Whether a value has made room.
  [[nodiscard]] bool has_evicted() const noexcept { return has_evicted_; }

 private:
  /// What a thread uses at a time.
  struct Access {
    explicit Access(const std::string& file) : database(file) {}

    SqliteConnection database;
    SqliteStatement find;
    SqliteStatement keep;
    std::vector<std::byte> bytes;
  };

  /// What `work` returns; false while others hold the file.
  template <class Work>
  bool use(const Work& work) const {
    std::unique_ptr<Access> access = take();
    bool done = false;
    try {
      if (access == nullptr) access = open();
      done = work(*access);
    } catch (const SqliteError& error) {
      if (!error.is_busy()) throw;
    }
    if (access != nullptr) give_back(std::move(access));
    return done;
  }

  [[nodiscard]] static std::int64_t checksum(const BlobKey& key, std::span<const std::byte> bytes);
  [[nodiscard]] std::unique_ptr<Access> take() const;
  void give_back(std::unique_ptr<Access> access) const;
  [[nodiscard]] std::unique_ptr<Access> open() const;
  void set_up(Access& access) const;
  void check_content();
  void check_content_or_empty();
  [[nodiscard]] bool has_mark() const;
  [[nodiscard]] bool log_is_short(Access& access) const;
  [[nodiscard]] std::uint64_t log_bytes() const;
  Kept store(Access& access, const BlobKey& key, std::int64_t used, std::int64_t evicted);
  static bool insert(Access& access, const BlobKey& key, std::int64_t used);
  bool evict(Access& access, std::uint64_t wanted, std::int64_t evicted);

  BlobFileOptions options_;
  std::string path_;
  std::uint64_t largest_;  ///< bytes of a value that can be stored
  std::int64_t last_use_ = 0;
  std::atomic<bool> has_evicted_ = false;
  std::mutex writing_;        ///< one thread at a time, or SQLite would make the others wait
  mutable std::mutex mutex_;  ///< of what follows
  mutable std::vector<std::unique_ptr<Access>> idle_;
};

}  // namespace cachebisect::stages
