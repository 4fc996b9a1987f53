#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "stages/support/blob_file.hpp"
#include <sys/statfs.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/content_difference.hpp"
#include "cachebisect/protocol/cache_file.hpp"

namespace cachebisect::stages {
namespace {

using cache_file::kLargestBytes;
using cache_file::kLargestPart;
using cache_file::kLogBytes;
using cache_file::kPageBytes;

constexpr std::uint64_t kEvictedPart = 64;  ///< of the limit, that is evicted at a time
/// A value that cannot be stored in this time is made again the next time.
constexpr int kBusyMilliseconds = 200;
/// To see what the file is of, others are waited for.
constexpr int kOpenMilliseconds = 10'000;

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS about(name TEXT PRIMARY KEY, text TEXT);
CREATE TABLE IF NOT EXISTS sample(id INTEGER PRIMARY KEY, crc INTEGER, used INTEGER, bytes BLOB);
CREATE INDEX IF NOT EXISTS sample_used ON sample(used);
)";

[[noreturn]] void refuse_cache(const std::string& folder, const std::string& why) {
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
    refuse_cache(folder, "cannot be made: " + (error ? error.message() : "it is no folder"));
  }
  if (is_on_network(folder)) {
    refuse_cache(folder,
                 "lies on a network file system, where SQLite's locks do not hold; name a "
                 "folder of a local disk");
  }
}

}  // namespace

BlobFile::BlobFile(BlobFileOptions options)
    : options_(std::move(options)),
      path_(options_.folder + "/" + options_.name),
      largest_(std::min(options_.limit_bytes / kLargestPart, kLargestBytes)) {
  make_folder(options_.folder);
  try {
    check_content_or_empty();
  } catch (const SqliteError& error) {
    refuse_cache(options_.folder, std::string("cannot be opened: ") + error.what() +
                                      (error.is_busy() ? "; another process holds it"
                                                       : "; remove the folder, or name another"));
  }
}

void BlobFile::touch(const std::vector<std::int64_t>& ids, std::int64_t used) {
  use([&](Access& access) {
    const std::scoped_lock lock(writing_);
    try {
      SqliteStatement update = access.database.prepare("UPDATE sample SET used = ? WHERE id = ?");
      SqliteTransaction transaction(access.database);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        update.bind(1, used + static_cast<std::int64_t>(i)).bind(2, ids[i]).step();
        update.reset();
      }
      transaction.commit();
    } catch (const SqliteError& error) {
      if (!error.is_full()) throw;
    }
    return true;
  });
}

bool BlobFile::empty() {
  {
    const std::scoped_lock lock(mutex_);
    idle_.clear();
  }
  const std::scoped_lock lock(writing_);
  try {
    Access access(path_);
    access.database.run("PRAGMA busy_timeout = " + std::to_string(kBusyMilliseconds));
    access.database.reset();
    set_up(access);
    access.database.prepare("INSERT OR REPLACE INTO about VALUES('content', ?)")
        .bind(1, options_.content)
        .step();
    return true;
  } catch (const SqliteError& error) {
    if (!error.is_busy()) throw;
    return false;
  }
}

CacheUse BlobFile::held() const {
  CacheUse held{.limit_bytes = options_.limit_bytes};
  use([&](Access& access) {
    held.samples =
        static_cast<std::uint64_t>(access.database.number("SELECT count(*) FROM sample"));
    held.bytes =
        kPageBytes * static_cast<std::uint64_t>(access.database.number("PRAGMA page_count"));
    return true;
  });
  return held;
}

std::int64_t BlobFile::checksum(const BlobKey& key, std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), key.seed));
}

std::unique_ptr<BlobFile::Access> BlobFile::take() const {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Access> access = std::move(idle_.back());
  idle_.pop_back();
  return access;
}

void BlobFile::give_back(std::unique_ptr<Access> access) const {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(access));
}

std::unique_ptr<BlobFile::Access> BlobFile::open() const {
  auto access = std::make_unique<Access>(path_);
  access->database.run("PRAGMA busy_timeout = " + std::to_string(kBusyMilliseconds));
  set_up(*access);
  return access;
}

void BlobFile::set_up(Access& access) const {
  SqliteConnection& database = access.database;
  database.run("PRAGMA page_size = " + std::to_string(kPageBytes));
  // Before there is a log, so that it is in the file at once; never in a file of something else.
  if (options_.mark != 0 && database.number("PRAGMA schema_version") == 0) {
    database.run("PRAGMA application_id = " + std::to_string(options_.mark));
  }
  database.run("PRAGMA journal_mode = WAL");
  // What was written survives the end of the machine's power up to the last seconds.
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA wal_autocheckpoint = " + std::to_string(kLogBytes / kPageBytes));
  database.run("PRAGMA journal_size_limit = " + std::to_string(kLogBytes));
  database.run(kTables);
  const std::uint64_t pages = (options_.limit_bytes - 2 * kLogBytes - largest_) / kPageBytes;
  database.run("PRAGMA max_page_count = " + std::to_string(pages));
  access.find = database.prepare("SELECT bytes, crc, used FROM sample WHERE id = ?");
  access.keep =
      database.prepare("INSERT OR REPLACE INTO sample(id, crc, used, bytes) VALUES(?, ?, ?, ?)");
}

void BlobFile::check_content_or_empty() {
  try {
    check_content();
  } catch (const SqliteError& error) {
    if (!error.is_damaged() || !has_mark()) throw;
    if (!empty()) throw;
    check_content();
  }
}

void BlobFile::check_content() {
  Access access(path_);
  SqliteConnection& database = access.database;
  database.run("PRAGMA busy_timeout = " + std::to_string(kOpenMilliseconds));
  set_up(access);
  database.prepare("INSERT OR IGNORE INTO about VALUES('content', ?)")
      .bind(1, options_.content)
      .step();
  SqliteStatement query = database.prepare("SELECT text FROM about WHERE name = 'content'");
  const std::string held = query.step() ? query.text(0) : "";
  query.reset();
  if (held != options_.content) {
    refuse_cache(options_.folder, content_difference(held, options_.content) +
                                      "; remove the folder, or name another");
  }
  last_use_ = database.number("SELECT max(used) FROM sample");
}

bool BlobFile::has_mark() const {
  // https://www.sqlite.org/fileformat.html: the head of a file, of which 4 bytes are free for this.
  constexpr std::size_t kMarkAt = 68;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, 100> head{};
  std::ifstream(path_, std::ios::binary).read(head.data(), head.size());
  std::uint32_t mark = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    mark = mark << 8U | static_cast<unsigned char>(head[kMarkAt + i]);
  }
  return options_.mark != 0 && std::string_view(head.data(), kMagic.size()) == kMagic &&
         mark == static_cast<std::uint32_t>(options_.mark);
}

/// Writes the log back if it is long; false if others keep it from ending.
bool BlobFile::log_is_short(Access& access) const {
  if (log_bytes() > 2 * kLogBytes) access.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return log_bytes() <= 2 * kLogBytes;
}

std::uint64_t BlobFile::log_bytes() const {
  std::error_code none;
  const auto size = std::filesystem::file_size(path_ + "-wal", none);
  return none ? 0 : size;
}

BlobFile::Kept BlobFile::store(Access& access, const BlobKey& key, std::int64_t used,
                               std::int64_t evicted) {
  if (access.bytes.size() > largest_) return Kept::not_now;
  const std::scoped_lock lock(writing_);
  if (!log_is_short(access)) return Kept::not_now;
  if (insert(access, key, used)) return Kept::yes;
  const std::uint64_t wanted =
      std::max<std::uint64_t>(2 * access.bytes.size(), options_.limit_bytes / kEvictedPart);
  if (!evict(access, wanted, evicted)) return Kept::no_room;
  // No room again: the disk is full, or another process took it.
  return insert(access, key, used) ? Kept::yes : Kept::not_now;
}

/// False if there is no room.
bool BlobFile::insert(Access& access, const BlobKey& key, std::int64_t used) {
  try {
    access.keep.bind(1, key.id)
        .bind(2, checksum(key, access.bytes))
        .bind(3, used)
        .bind(4, std::span<const std::byte>(access.bytes))
        .step();
    access.keep.reset();
    return true;
  } catch (const SqliteError& error) {
    if (!error.is_full()) throw;
    return false;
  }
}

/// False if nothing may go.
bool BlobFile::evict(Access& access, std::uint64_t wanted, std::int64_t evicted) {
  SqliteConnection& database = access.database;
  SqliteStatement oldest = database.prepare(
      "SELECT used, id, length(bytes) FROM sample WHERE used < ? ORDER BY used, id");
  oldest.bind(1, evicted);
  std::vector<std::int64_t> going;
  std::uint64_t freed = 0;
  while (freed < wanted && oldest.step()) {
    going.push_back(oldest.number(1));
    freed += static_cast<std::uint64_t>(oldest.number(2));
  }
  oldest.reset();
  if (going.empty()) return false;
  SqliteStatement remove = database.prepare("DELETE FROM sample WHERE id = ?");
  SqliteTransaction transaction(database);
  for (const std::int64_t id : going) {
    remove.bind(1, id).step();
    remove.reset();
  }
  transaction.commit();
  has_evicted_ = true;
  return true;
}

}  // namespace cachebisect::stages
