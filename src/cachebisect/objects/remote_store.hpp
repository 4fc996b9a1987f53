// Objects on servers: their connections, which all threads of a data set share, and their counts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/http/bucket_list.hpp"
#include "cachebisect/http/part_reader.hpp"
#include "cachebisect/http/s3_address.hpp"
#include "cachebisect/objects/byte_cache.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect {

/// One of several objects.
struct WantedObject {
  std::string path;
  std::span<std::byte> head{};  ///< for its first bytes, as far as it has them
  /// Not null: that of an earlier find() in the same store, which is not looked up again. Null
  /// afterwards: the server has none.
  std::shared_ptr<const ByteSource> object{};
};

/// Bytes of one of several objects.
struct WantedBytes {
  const ByteSource* object = nullptr;  ///< of the store
  std::uint64_t offset = 0;
  std::span<std::byte> out{};
};

/// Thread safe. As many connections are kept as there were threads and parts at once.
class CACHEBISECT_INTERNAL_API RemoteStore {
 public:
  /// Threads that open objects: one waits for answers, not for cores.
  static constexpr std::uint64_t kOpenAtOnce = 32;

  /// Reads end with Error(interrupted) on `stop`. Objects of S3 are found as `environment` says.
  explicit RemoteStore(std::stop_token stop, const PartLimits& limits = {},
                       Environment environment = process_environment());
  /// The same, and what is read is kept in `cache`; null: nowhere.
  RemoteStore(std::stop_token stop, std::shared_ptr<ByteCache> cache);
  RemoteStore(const RemoteStore&) = delete;
  RemoteStore& operator=(const RemoteStore&) = delete;
  ~RemoteStore();

  /// Asks for the object's size; the source keeps the store. Throws Error(data) naming the object
  /// if it cannot be read, or has nothing that tells it from others and is to be kept in a cache,
  /// Error(usage) for a path or a setting that is wrong, or for what this build or machine lacks.
  [[nodiscard]] static std::unique_ptr<const ByteSource> open(
      const std::shared_ptr<const RemoteStore>& store, const std::string& path);
  /// The same of several objects at once, which the server need not have. Fills their heads: by the
  /// same requests, if nothing is kept in a cache.
  static void find(const std::shared_ptr<const RemoteStore>& store, std::span<WantedObject> wanted);
  /// An object of which a list of its bucket says this: nothing is asked. Throws as open() does of
  /// a path, and of an object without a tag.
  [[nodiscard]] static std::unique_ptr<const ByteSource> open_listed(
      const std::shared_ptr<const RemoteStore>& store, const std::string& path, ObjectFacts facts);
  /// Fills each, several at once: one request for each that a cache does not have. Throws as
  /// ByteSource::read() does.
  void read(std::span<const WantedBytes> wanted) const;
  /// As list_bucket().
  void list(const BucketListOptions& options, const OnBucketPage& on_page) const;

  [[nodiscard]] RequestCounts counts() const noexcept { return counter_.counts(); }

  /// The variables of this process.
  [[nodiscard]] static Environment process_environment();

 private:
  class Object;
  static constexpr std::size_t kMostIdle = 256;
  using Readers = ObjectPool<PartReader, kMostIdle>;

  static std::unique_ptr<const Object> make_object(const std::shared_ptr<const RemoteStore>& store,
                                                   ObjectAddress address, ObjectFacts facts);
  [[nodiscard]] Readers::Loan reader() const;
  [[nodiscard]] ObjectAddress address_of(const std::string& path) const;

  std::stop_token stop_;
  PartLimits limits_;
  Environment environment_;
  std::shared_ptr<ByteCache> cache_;
  mutable RequestCounter counter_;
  mutable Readers readers_;  // last: it uses the others
};

}  // namespace cachebisect
