// A data set in shards, as `cachebisect prepare` writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/files.hpp"

#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/shard_file.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::test {

/// Images of `bytes` and some more, and labels that count.
inline std::string counting_image(std::uint64_t number, std::size_t bytes) {
  std::string text = "image " + std::to_string(number) + " ";
  while (text.size() < bytes + number % 100) text += static_cast<char>('a' + text.size() * 7 % 23);
  return text;
}

/// Writes `samples` of them into the folder, `per_shard` a shard.
inline void write_shard_folder(const TemporaryFolder& folder, std::uint64_t samples,
                               std::uint64_t per_shard, std::size_t bytes) {
  shards::ShardSet set{.content = "images\n",
                       .digest = shards::checksum_text(shards::text_digest("images\n")),
                       .after = "read",
                       .spec = {{"image", DType::uint8, {kDynamic}}, {"label", DType::int64, {}}},
                       .source_samples = samples,
                       .shards = {}};
  const shards::PackedSample packed(set.spec);
  std::vector<std::byte> record;
  for (std::uint64_t first = 0; first < samples; first += per_shard) {
    const std::string name = shards::shard_name(set.shards.size());
    shards::ShardWriter writer(folder.path(name));
    const std::uint64_t end = std::min(samples, first + per_shard);
    for (std::uint64_t i = first; i < end; ++i) {
      Sample sample;
      sample.field("image").assign(counting_image(i, bytes));
      sample.field("label").set(static_cast<std::int64_t>(i));
      packed.pack(sample, record);
      writer.append(record, record.size());
    }
    const std::uint64_t checksum =
        writer.close({.set = 1, .first_sample = first, .end_sample = end});
    set.shards.push_back({.file = name,
                          .samples = end - first,
                          .bytes = writer.bytes(),
                          .index_checksum = shards::checksum_text(checksum)});
  }
  folder.write("index.json", shards::to_json(set));
}

}  // namespace cachebisect::test
