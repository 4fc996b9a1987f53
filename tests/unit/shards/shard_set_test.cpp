// A folder of shards: gone on with after any end, and never mixed with anything else.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/shards/shard_set_writer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using namespace cachebisect::shards;

namespace {

constexpr std::uint64_t kSamples = 23;
constexpr std::uint64_t kPerShard = 5;

ShardSet facts(const std::string& content = "read a\n", const std::string& codec = "none") {
  return {.content = content,
          .after = "decode",
          .codec = codec,
          .spec = {{"image", DType::uint8, {kDynamic, 3}}, {"label", DType::int64, {}}},
          .source_samples = kSamples,
          .generated = true};
}

std::vector<std::byte> set_record(std::uint64_t sample) {
  return std::vector<std::byte>(1000 + sample, static_cast<std::byte>(sample));
}

/// Writes so many more shards; all of them, and the index, if there are no more.
void write_shards(ShardSetWriter& writer, std::uint64_t count = kSamples) {
  while (count-- > 0 && writer.next_sample() < kSamples) {
    const std::uint64_t first = writer.next_sample();
    const std::uint64_t end = std::min(kSamples, first + kPerShard);
    for (std::uint64_t i = first; i < end; ++i) writer.append(set_record(i), set_record(i).size());
    writer.end_shard(end);
  }
  if (writer.next_sample() == kSamples) writer.finish();
}

void check_whole(const std::string& folder) {
  const ShardSet set = load_shard_set(folder);
  CHECK(set.samples() == kSamples);
  CHECK(set.shards.size() == 5);
  std::uint64_t sample = 0;
  for (const ShardFacts& shard : set.shards) {
    const ShardFile file(folder + "/" + shard.file);
    REQUIRE(file.records() == shard.samples);
    CHECK(checksum_text(file.index_checksum()) == shard.index_checksum);
    for (std::uint64_t i = 0; i < file.records(); ++i, ++sample) {
      std::vector<std::byte> stored(file.entry(i).stored_bytes);
      file.read(i, stored);
      CHECK(stored == set_record(sample));
    }
  }
  CHECK(sample == kSamples);
  CHECK(entries_in(folder) == 6);
}

bool has_partial_files(const std::string& folder) {
  const auto is_partial = [](const std::filesystem::directory_entry& entry) {
    return has(entry.path().string(), ".partial-");
  };
  return std::any_of(std::filesystem::directory_iterator(folder),
                     std::filesystem::directory_iterator(), is_partial);
}

std::string refused(const std::string& folder, const ShardSet& set) {
  return usage_error([&] { const ShardSetWriter writer(folder, set); });
}

}  // namespace

TEST_CASE("a set is written in one go, and is finished then") {
  const TemporaryFolder folder;
  const std::string path = folder.path("made/by/it");
  {
    ShardSetWriter writer(path, facts());
    CHECK_FALSE(writer.is_finished());
    CHECK(has(error_message([&] { static_cast<void>(load_shard_set(path)); }, ErrorKind::data),
              "not whole yet"));
    write_shards(writer);
    CHECK(writer.is_finished());
  }
  check_whole(path);
  const ShardSetWriter again(path, facts());
  CHECK(again.is_finished());
  CHECK(again.set().generated);
  CHECK(again.set().spec == facts().spec);
}

TEST_CASE("whole shards stay") {
  const TemporaryFolder folder;
  for (std::uint64_t shards = 0; shards < 5; ++shards) {
    ShardSetWriter writer(folder.path(), facts());
    CHECK(writer.next_sample() == shards * kPerShard);
    write_shards(writer, 1);
  }
  check_whole(folder.path());
}

TEST_CASE("a process that is killed leaves whole shards") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    ShardSetWriter writer(folder.path(), facts());
    write_shards(writer, 3);
    writer.append(set_record(15), 10);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  CHECK(has_partial_files(folder.path()));
  ShardSetWriter writer(folder.path(), facts());
  CHECK(writer.next_sample() == 15);
  write_shards(writer);
  check_whole(folder.path());
}

TEST_CASE("a disk that is full leaves whole shards") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5200, 5200};  // The shards grow: the third does not fit.
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      ShardSetWriter writer(folder.path(), facts());
      write_shards(writer);
    } catch (const Error& error) {
      _exit(error.kind() == ErrorKind::output && has(error.what(), "cannot be written") ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_FALSE(has_partial_files(folder.path()));
  ShardSetWriter writer(folder.path(), facts());
  CHECK(writer.next_sample() > 0);
  CHECK(writer.next_sample() < kSamples);
  write_shards(writer);
  check_whole(folder.path());
}

TEST_CASE("a shard that is not as it was written is made again") {
  for (const bool cut : {true, false}) {
    const TemporaryFolder folder;
    {
      ShardSetWriter writer(folder.path(), facts());
      write_shards(writer, 3);
    }
    const std::string name = "shard-00001.cbs";
    std::string content = read_file(folder.path(name));
    if (cut) content.resize(content.size() / 2);
    if (!cut) content[2000] = static_cast<char>(content[2000] ^ 1);
    folder.write(name, content);
    ShardSetWriter writer(folder.path(), facts());
    CHECK(writer.next_sample() == kPerShard);
    write_shards(writer);
    check_whole(folder.path());
  }
}

TEST_CASE("of a finished set too, what is damaged or missing is written again, and that alone") {
  for (const std::string damage : {"flipped", "missing", "index", "no index"}) {
    CAPTURE(damage);
    const TemporaryFolder folder;
    {
      ShardSetWriter writer(folder.path(), facts());
      write_shards(writer);
    }
    const std::string third = folder.path("shard-00002.cbs");
    std::string content = read_file(third);
    content[2000] = static_cast<char>(content[2000] ^ 1);
    if (damage == "flipped") folder.write("shard-00002.cbs", content);
    if (damage == "missing") std::filesystem::remove(third);
    if (damage == "index") folder.write("index.json", std::string("{"));
    if (damage == "no index") std::filesystem::remove(folder.path("index.json"));
    const bool of_shard = damage == "flipped" || damage == "missing";
    const auto first = std::filesystem::last_write_time(folder.path("shard-00000.cbs"));
    const auto last = std::filesystem::last_write_time(folder.path("shard-00004.cbs"));
    ShardSetWriter writer(folder.path(), facts());
    CHECK_FALSE(writer.is_finished());
    CHECK(writer.next_sample() == (of_shard ? 2 * kPerShard : kSamples));
    write_shards(writer);
    check_whole(folder.path());
    CHECK(std::filesystem::last_write_time(folder.path("shard-00000.cbs")) == first);
    CHECK(std::filesystem::last_write_time(folder.path("shard-00004.cbs")) == last);
  }
}

TEST_CASE("a whole shard of another set is not taken for one of this") {
  const TemporaryFolder folder;
  {
    ShardSetWriter writer(folder.path(), facts());
    write_shards(writer, 1);
  }
  const TemporaryFolder other;
  {
    ShardSetWriter writer(other.path(), facts("read b\n"));
    write_shards(writer);
  }
  std::filesystem::copy_file(other.path("shard-00001.cbs"), folder.path("shard-00001.cbs"));
  CHECK(has(refused(folder.path(), facts()), "shard-00001.cbs is of another set"));
  CHECK(std::filesystem::exists(folder.path("shard-00001.cbs")));
}

TEST_CASE("what a kill between two names leaves is cleaned up") {
  const TemporaryFolder folder;
  {
    ShardSetWriter writer(folder.path(), facts());
    write_shards(writer);
  }
  folder.write("unfinished.json", read_file(folder.path("index.json")));
  folder.write("shard-00009.cbs.partial-17", std::string("half"));
  CHECK(ShardSetWriter(folder.path(), facts()).is_finished());
  check_whole(folder.path());
}

TEST_CASE("content that is not UTF-8 is known again") {
  const TemporaryFolder folder;
  const std::string content = "read path=\xff\xfe\n";
  {
    ShardSetWriter writer(folder.path(), facts(content));
    write_shards(writer, 2);
  }
  CHECK(ShardSetWriter(folder.path(), facts(content)).next_sample() == 2 * kPerShard);
  CHECK_FALSE(refused(folder.path(), facts("read path=\xff\xfd\n")).empty());
}

TEST_CASE("anything else in the folder is refused and left as it is") {
  const TemporaryFolder folder;
  folder.write("theirs", std::string("precious"));
  CHECK(has(refused(folder.path(), facts()), "holds other files"));
  CHECK(read_file(folder.path("theirs")) == "precious");
  CHECK(entries_in(folder.path()) == 1);
  const std::string file = folder.path("theirs");
  CHECK(has(error_message([&] { const ShardSetWriter writer(file, facts()); }, ErrorKind::output),
            "no folder"));
}

TEST_CASE("samples of something else are refused, with what differs") {
  for (const bool finished : {false, true}) {
    const TemporaryFolder folder;
    {
      ShardSetWriter writer(folder.path(), facts("read a\nresize 224\n"));
      write_shards(writer, finished ? kSamples : 2);
    }
    const auto entries = entries_in(folder.path());
    const std::string message = refused(folder.path(), facts("read a\nresize 256\n"));
    CHECK(has(message, "holds samples of resize 224, and these are of resize 256"));
    CHECK(has(message, "--out"));
    const std::string content = "read a\nresize 224\n";
    CHECK(has(refused(folder.path(), facts(content, "lz4")), "stored with none, not lz4"));
    ShardSet other = facts(content);
    other.after = "resize";
    CHECK(has(refused(folder.path(), other), "after 'decode'"));
    other = facts(content);
    other.spec.pop_back();
    CHECK(has(refused(folder.path(), other), "other fields"));
    CHECK(entries_in(folder.path()) == entries);
  }
}

TEST_CASE("one process writes at a time") {
  const TemporaryFolder folder;
  const ShardSetWriter first(folder.path(), facts());
  CHECK(has(refused(folder.path(), facts()), "another process writes it now"));
}

TEST_CASE("an index of anything else is refused, with its place") {
  ShardSet set = facts();
  set.digest = "0123456789abcdef";
  const std::string text = to_json(set);
  CHECK(parse_shard_set(text, "index.json").spec == facts().spec);
  const auto bad = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const auto at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    return usage_error([&] { static_cast<void>(parse_shard_set(changed, "index.json")); });
  };
  CHECK(has(bad("\"format\": 1", "\"format\": 2"), "/format: must be 1"));
  CHECK(has(bad("uint8", "uint9"), "/fields/0/dtype"));
  CHECK(has(bad("-1", "-2"), "/fields/0/shape/0"));
  CHECK(has(bad("-1", "1e30"), "/fields/0/shape/0"));
  CHECK(has(bad("-1", "1,1,1,1,1,1,1,1"), "/fields/0/shape: must have at most 6 dimensions"));
  CHECK(has(bad("-1", "2147483647,2147483647,2147483647"), "larger than a sample may be"));
  CHECK(has(bad("-1", "0,2147483647"), "larger than a sample may be"));
  CHECK(has(bad("\"label\"", "\"image\""), "/fields: \"image\" appears twice"));
  CHECK(has(bad("\"shards\": []", R"("shards": [{"file": "../other"}])"), "lie in the folder"));
  CHECK_FALSE(bad("{", "[").empty());
}
