// How a record of a shard is compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::shards {

/// Compresses records one by one. Thread safe; allocates nothing in the steady state.
class CACHEBISECT_INTERNAL_API RecordCodec {
 public:
  virtual ~RecordCodec();
  RecordCodec(const RecordCodec&) = delete;
  RecordCodec& operator=(const RecordCodec&) = delete;

  /// As it was given: "none", "lz4", "zstd:1".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// False for "none".
  [[nodiscard]] virtual bool compresses() const noexcept = 0;
  /// Replaces what `out` held. Throws Error(data) if the record is too large for the codec.
  virtual void compress(std::span<const std::byte> record, std::vector<std::byte>& out) const = 0;
  /// Fills `record`, whose size is that of the record. False if `stored` is no such record.
  [[nodiscard]] virtual bool expand(std::span<const std::byte> stored,
                                    std::span<std::byte> record) const = 0;

 protected:
  explicit RecordCodec(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// Throws Error(usage) for a name that this build does not have; `name` is "none", "lz4", or "zstd"
/// or "zstd:LEVEL" from 1 to 19.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<RecordCodec> make_codec(
    const std::string& name);
/// "none", and what else this build has, the fastest first.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> codecs_of_this_build();

}  // namespace cachebisect::shards
