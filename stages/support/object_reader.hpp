// What sources over objects of a server have in common: their store, and the samples read from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "stages/support/object_cache.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/remote_source.hpp"

namespace cachebisect::stages {

/// The address of a folder of objects without slashes at its end, which would be part of their
/// names. Throws Error(usage) if it has a query: that is of one object. `objects` says in a message
/// what the folder holds.
[[nodiscard]] inline std::string object_folder(std::string path, const std::string& objects) {
  while (path.ends_with('/')) path.pop_back();
  if (path.starts_with("http") && path.find_first_of("?#") != std::string::npos) {
    throw Error(ErrorKind::usage, shown_path(path) +
                                      ": an address with a query is that of one object; name the "
                                      "folder of " +
                                      objects);
  }
  return path;
}

/// A base of sources. Reads files, without anything to count, until it is given a store.
class ObjectReader : public RemoteSource {
 public:
  /// `params`: with those of with_object_cache().
  explicit ObjectReader(const Params& params) : cache_(object_cache_options(params)) {}

  [[nodiscard]] std::optional<RequestCounts> request_counts() const override {
    if (!is_remote()) return std::nullopt;
    RequestCounts counts = store_->counts();
    counts.samples = samples_read_;
    return counts;
  }

 protected:
  /// A store for what `path` names; null: files. Throws Error(usage) as open_object_cache() does,
  /// and if files are to be kept in a cache.
  [[nodiscard]] std::shared_ptr<const RemoteStore> make_store(const std::string& path,
                                                              const std::stop_token& stop) const {
    const bool has_cache = !cache_.folder.empty();
    if (is_remote_path(path)) {
      return std::make_shared<const RemoteStore>(stop,
                                                 has_cache ? open_object_cache(cache_) : nullptr);
    }
    if (!has_cache) return nullptr;
    throw Error(ErrorKind::usage,
                "\"cache\" keeps objects of servers, and " + path +
                    " is a path of files; leave it out, or put cache.disk behind the source");
  }
  /// What a store depends on, besides the path.
  [[nodiscard]] std::string cache_key() const {
    return cache_.folder + '\0' + std::to_string(cache_.limit_bytes);
  }
  /// Null: the samples lie in files.
  void set_store(std::shared_ptr<const RemoteStore> store) noexcept { store_ = std::move(store); }
  [[nodiscard]] bool is_remote() const noexcept { return store_ != nullptr; }
  /// A sample is read.
  void count_sample() const noexcept {
    if (is_remote()) ++samples_read_;
  }

 private:
  ObjectCacheOptions cache_;
  std::shared_ptr<const RemoteStore> store_;
  mutable std::atomic<std::uint64_t> samples_read_{0};
};

}  // namespace cachebisect::stages
