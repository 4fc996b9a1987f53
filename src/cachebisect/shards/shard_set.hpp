// A folder of shards: what they hold, as its index.json says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/data/sample.hpp"

namespace cachebisect {
class RemoteStore;
}

namespace cachebisect::shards {

inline constexpr const char* kIndexName = "index.json";
/// Instead of the index, while shards are written.
inline constexpr const char* kUnfinishedName = "unfinished.json";

struct ShardFacts {
  std::string file;  ///< its name in the folder
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::string index_checksum;  ///< hexadecimal
};

struct CACHEBISECT_INTERNAL_API ShardSet {
  std::string content;  ///< what the samples are of, a fact per line
  std::string digest;   ///< of the content, hexadecimal: another one is another set
  std::string after;    ///< the stage that made them
  std::string codec = "none";
  SampleSpec spec;
  std::uint64_t source_samples = 0;
  bool generated = false;  ///< the source was
  std::vector<ShardFacts> shards;

  [[nodiscard]] std::uint64_t samples() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_json(const ShardSet& set);
/// `origin` names the text in messages. Throws Error(usage) naming the place of what is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API ShardSet parse_shard_set(std::string_view text,
                                                                const std::string& origin);
/// The set in a folder, or below the address of a server (http://host/set, s3://bucket/set), whose
/// objects `store` reads; null for a folder. Throws Error(data) if it holds none that is whole,
/// Error(interrupted) if a stop of the store ends it.
[[nodiscard]] CACHEBISECT_INTERNAL_API ShardSet load_shard_set(
    const std::string& folder, const std::shared_ptr<const RemoteStore>& store = nullptr);
/// The set that kIndexName or kUnfinishedName tells of; empty if that is missing, or is no set.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<ShardSet> find_shard_set(
    const std::string& folder, const char* name);
/// The set in a folder, whole or not.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<ShardSet> find_shard_set(
    const std::string& folder);
/// "shard-00012.cbs"
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shard_name(std::uint64_t number);
/// 16 hexadecimal digits.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string checksum_text(std::uint64_t checksum);
/// A digest of any text.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint64_t text_digest(std::string_view text);

}  // namespace cachebisect::shards
