// The index.json of a prepared data set: as text, and in a folder with a sound shard.
#include "cachebisect/shards/shard_set.hpp"

#include <vector>

#include "fuzz/sources.hpp"

#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/shard_file.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::size_t kShardRecord = 20;

/// The sum of the index of shard-00000.cbs, which holds three records of as many bytes.
const std::string& sound_shard() {
  static const std::string checksum = [] {
    shards::ShardWriter writer(scratch().path("shard-00000.cbs"));
    const std::vector<std::byte> record(kShardRecord, std::byte{1});
    for (int i = 0; i < 3; ++i) writer.append(record, record.size());
    return shards::checksum_text(writer.close({.set = 1, .first_sample = 0, .end_sample = 3}));
  }();
  return checksum;
}

/// Names the sound shard where the corpus has "CHECKSUM".
std::string with_checksum(std::string text) {
  constexpr std::string_view kPlace = "CHECKSUM";
  const std::string& checksum = sound_shard();
  if (const std::size_t at = text.find(kPlace); at != std::string::npos) {
    text.replace(at, kPlace.size(), checksum);
  }
  return text;
}

void check_text(const std::string& text) {
  shards::ShardSet set;
  const auto parse = [&] { set = shards::parse_shard_set(text, "index.json"); };
  if (!takes({ErrorKind::usage}, parse)) return;
  const std::string written = shards::to_json(set);
  require(shards::to_json(shards::parse_shard_set(written, "again")) == written,
          "an index that was read is written and read again");
}

void check_folder(const std::string& text) {
  put_file("index.json", bytes_of(text));
  for (const double buffer_mb : {0.0, 1.0}) {
    const auto source = opened("read.shards", scratch().path(), {{"shuffle_buffer_mb", buffer_mb}});
    if (!source) continue;
    const std::uint64_t most = 1000;
    read_all(*source, most, [&](const Sample& sample, std::uint64_t) {
      require(!sample.fields().empty(), "a sample has fields");
    });
  }
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(shard_set)(const std::uint8_t* data, std::size_t size) {
  const std::string text = with_checksum(std::string(text_of(data, size)));
  check_text(text);
  check_folder(text);
  return 0;
}
