#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "stages/support/disk_store.hpp"
#include "stages/support/sample_bytes.hpp"
#include "stages/support/sqlite_file.hpp"
#include <sys/statfs.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/content_difference.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kPage = 16384;
/// Bytes of the write-ahead log at which it is written back. Beyond twice as many nothing is stored
/// until it could be: others may read it.
constexpr std::uint64_t kLog = std::uint64_t{1} << 20U;
constexpr std::uint64_t kLargest = std::uint64_t{64} << 20U;
constexpr std::uint64_t kLargestPart = 16;  ///< of the limit, that one sample may take
constexpr std::uint64_t kEvictedPart = 64;  ///< of the limit, that is evicted at a time
constexpr std::size_t kTouched = 64;        ///< uses after which lru writes them down
/// A sample that cannot be stored in this time is made again the next time.
constexpr int kBusyMilliseconds = 200;
/// To see what the file is of, others are waited for.
constexpr int kOpenMilliseconds = 10'000;

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS about(name TEXT PRIMARY KEY, text TEXT);
CREATE TABLE IF NOT EXISTS sample(id INTEGER PRIMARY KEY, crc INTEGER, used INTEGER, bytes BLOB);
CREATE INDEX IF NOT EXISTS sample_used ON sample(used);
)";

std::int64_t checksum(std::uint64_t index, std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), index));
}

[[noreturn]] void refuse(const std::string& folder, const std::string& why) {
  throw Error(ErrorKind::usage, "the cache in " + folder + " " + why);
}

/// Locks of files do not hold there.
bool is_on_network(const std::string& folder) {
  // linux/magic.h, and those of Lustre, CIFS, SMB2 and GPFS: NFS, SMB, FUSE, 9P, AFS, Ceph.
  constexpr std::array<std::uint64_t, 10> kNetwork{0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                                   0x65735546, 0x01021997, 0x5346414F, 0x00C36400,
                                                   0x0BD00BD0, 0x47504653};
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  const auto type = static_cast<std::uint64_t>(facts.f_type) & 0xFFFFFFFFU;
  return std::ranges::find(kNetwork, type) != kNetwork.end();
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    refuse(folder, "cannot be made: " + (error ? error.message() : "it is no folder"));
  }
  if (is_on_network(folder)) {
    refuse(folder,
           "lies on a network file system, where SQLite's locks do not hold; name a "
           "folder of a local disk");
  }
}

/// What a thread uses at a time.
struct Access {
  explicit Access(const std::string& file) : database(file) {}

  SqliteConnection database;
  SqliteStatement find;
  SqliteStatement keep;
  std::vector<std::byte> bytes;
};

class DiskStore final : public SampleStore {
 public:
  explicit DiskStore(DiskStoreOptions options)
      : options_(std::move(options)),
        file_(options_.folder + "/cache.sqlite"),
        largest_(std::min(options_.limit_bytes / kLargestPart, kLargest)) {
    make_folder(options_.folder);
    try {
      check_content();
    } catch (const SqliteError& error) {
      refuse(options_.folder, std::string("cannot be opened: ") + error.what() +
                                  (error.is_busy() ? "; another process holds it"
                                                   : "; remove the folder, or name another"));
    }
  }

  void keep(const Sample& sample) override {
    if (full_.load(std::memory_order_relaxed)) return;
    use_access([&](Access& access) {
      to_bytes(sample, access.bytes);
      if (access.bytes.size() > largest_) return false;
      const std::scoped_lock lock(writing_);  // One at a time, or SQLite would make them wait.
      return log_is_short(access) && store(access, sample.index());
    });
  }

  bool find(SampleIndex index, Sample& out) override {
    return use_access([&](Access& access) {
      SqliteStatement& query = access.find;
      query.bind(1, static_cast<std::int64_t>(index.value));
      bool found = false;
      if (query.step()) {
        const std::span<const std::byte> bytes = query.bytes(0);
        found = query.number(1) == checksum(index, bytes) && from_bytes(bytes, out);
      }
      query.reset();
      if (!found) return false;
      out.set_index(index);
      if (options_.eviction == Eviction::lru) touch(access, index);
      return true;
    });
  }

  [[nodiscard]] CacheUse use() const override {
    CacheUse use{.limit_bytes = options_.limit_bytes, .full = full_ || evicted_};
    use_access([&](Access& access) {
      use.samples =
          static_cast<std::uint64_t>(access.database.number("SELECT count(*) FROM sample"));
      use.bytes = kPage * static_cast<std::uint64_t>(access.database.number("PRAGMA page_count"));
      return true;
    });
    return use;
  }

 private:
  /// What `work` returns; false while others hold the file. Throws Error(data).
  template <class Work>
  bool use_access(const Work& work) const {
    std::unique_ptr<Access> access = take();
    bool done = false;
    try {
      if (access == nullptr) access = open();
      done = work(*access);
    } catch (const SqliteError& error) {
      if (!error.is_busy()) {
        throw Error(ErrorKind::data, "the cache " + file_ + " cannot be used: " + error.what() +
                                         "; remove its folder");
      }
    }
    const std::scoped_lock lock(mutex_);
    if (access != nullptr) idle_.push_back(std::move(access));
    return done;
  }

  std::unique_ptr<Access> take() const {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Access> access = std::move(idle_.back());
    idle_.pop_back();
    return access;
  }

  [[nodiscard]] std::unique_ptr<Access> open(int patience = kBusyMilliseconds) const {
    auto access = std::make_unique<Access>(file_);
    SqliteConnection& database = access->database;
    database.run("PRAGMA busy_timeout = " + std::to_string(patience));
    database.run("PRAGMA page_size = " + std::to_string(kPage));
    database.run("PRAGMA journal_mode = WAL");
    // What was written survives the end of the machine's power up to the last seconds.
    database.run("PRAGMA synchronous = NORMAL");
    database.run("PRAGMA wal_autocheckpoint = " + std::to_string(kLog / kPage));
    database.run("PRAGMA journal_size_limit = " + std::to_string(kLog));
    database.run(kTables);
    const std::uint64_t pages = (options_.limit_bytes - 2 * kLog - largest_) / kPage;
    database.run("PRAGMA max_page_count = " + std::to_string(pages));
    access->find = database.prepare("SELECT bytes, crc FROM sample WHERE id = ?");
    access->keep =
        database.prepare("INSERT OR REPLACE INTO sample(id, crc, used, bytes) VALUES(?, ?, ?, ?)");
    return access;
  }

  void check_content() {
    const std::unique_ptr<Access> access = open(kOpenMilliseconds);
    SqliteConnection& database = access->database;
    database.prepare("INSERT OR IGNORE INTO about VALUES('content', ?)")
        .bind(1, options_.content)
        .step();
    SqliteStatement query = database.prepare("SELECT text FROM about WHERE name = 'content'");
    const std::string held = query.step() ? query.text(0) : "";
    query.reset();
    if (held != options_.content) {
      refuse(options_.folder,
             content_difference(held, options_.content) + "; remove the folder, or name another");
    }
    next_use_ = 1 + database.number("SELECT max(used) FROM sample");
  }

  /// Writes the log back if it is long; false if others keep it from ending.
  bool log_is_short(Access& access) {
    if (log_bytes() > 2 * kLog) access.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return log_bytes() <= 2 * kLog;
  }

  [[nodiscard]] std::uint64_t log_bytes() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(file_ + "-wal", none);
    return none ? 0 : size;
  }

  bool store(Access& access, SampleIndex index) {
    if (insert(access, index)) return true;
    if (options_.eviction == Eviction::none) {
      full_ = true;
      return false;
    }
    evict(access,
          std::max<std::uint64_t>(2 * access.bytes.size(), options_.limit_bytes / kEvictedPart));
    // No room again: the disk is full, or another process took it.
    return insert(access, index);
  }

  /// False if there is no room.
  bool insert(Access& access, SampleIndex index) {
    try {
      access.keep.bind(1, static_cast<std::int64_t>(index.value))
          .bind(2, checksum(index, access.bytes))
          .bind(3, next_use_++)
          .bind(4, std::span<const std::byte>(access.bytes))
          .step();
      access.keep.reset();
      return true;
    } catch (const SqliteError& error) {
      if (!error.is_full()) throw;
      return false;
    }
  }

  void evict(Access& access, std::uint64_t wanted) {
    SqliteConnection& database = access.database;
    SqliteStatement oldest =
        database.prepare("SELECT used, id, length(bytes) FROM sample ORDER BY used, id");
    std::vector<std::int64_t> going;
    std::uint64_t freed = 0;
    while (freed < wanted && oldest.step()) {
      going.push_back(oldest.number(1));
      freed += static_cast<std::uint64_t>(oldest.number(2));
    }
    oldest.reset();
    SqliteStatement remove = database.prepare("DELETE FROM sample WHERE id = ?");
    SqliteTransaction transaction(database);
    for (const std::int64_t id : going) {
      remove.bind(1, id).step();
      remove.reset();
    }
    transaction.commit();
    evicted_ = true;
  }

  /// Notes the use. Where it cannot be written now, the order is a little older.
  void touch(Access& access, SampleIndex index) {
    std::vector<std::int64_t> used;
    {
      const std::scoped_lock lock(mutex_);
      touched_.push_back(static_cast<std::int64_t>(index.value));
      if (touched_.size() < kTouched) return;
      used.swap(touched_);
    }
    const std::scoped_lock lock(writing_);
    try {
      write_uses(access, used);
    } catch (const SqliteError& error) {
      if (!error.is_busy() && !error.is_full()) throw;
    }
  }

  void write_uses(Access& access, const std::vector<std::int64_t>& used) {
    SqliteStatement update = access.database.prepare("UPDATE sample SET used = ? WHERE id = ?");
    SqliteTransaction transaction(access.database);
    for (const std::int64_t id : used) {
      update.bind(1, next_use_++).bind(2, id).step();
      update.reset();
    }
    transaction.commit();
  }

  DiskStoreOptions options_;
  std::string file_;
  std::uint64_t largest_;  ///< bytes of a sample that can be stored
  std::atomic<bool> full_ = false;
  std::atomic<bool> evicted_ = false;
  std::atomic<std::int64_t> next_use_ = 1;
  std::mutex writing_;
  mutable std::mutex mutex_;  ///< of what follows
  mutable std::vector<std::unique_ptr<Access>> idle_;
  std::vector<std::int64_t> touched_;
};

}  // namespace

std::unique_ptr<SampleStore> open_disk_store(const DiskStoreOptions& options) {
  return std::make_unique<DiskStore>(options);
}

}  // namespace cachebisect::stages
