// Sources that hold their files in memory: the same samples, whatever happens to the files.
#include <filesystem>
#include <stop_token>
#include <string>

#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/idx_files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const NamedValue kHeld{"in_memory", true};

/// A generated set of three times 64 samples, and its folder.
struct Generated {
  TemporaryFolder folder;
  std::string type;

  explicit Generated(std::string of) : type(std::move(of)) { source(false)->open(); }

  [[nodiscard]] std::unique_ptr<SourceStage> source(bool held) const {
    return make_source(type, folder.path("set"),
                       {{"if_missing", std::string("generate")},
                        {"generated_samples", std::int64_t{192}},
                        {"in_memory", held}});
  }
};

Bytes bytes_of(const SourceStage& source, std::uint64_t index) {
  const Sample sample = read_sample(source, index);
  const auto pixels = sample.field("image").as<std::uint8_t>();
  Bytes bytes(pixels.begin(), pixels.end());
  bytes.push_back(static_cast<std::uint8_t>(sample.field("label").as_integer()));
  return bytes;
}

void shorten_all(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "GENERATED") std::filesystem::resize_file(entry.path(), 1);
  }
}

}  // namespace

TEST_CASE("samples that are held in memory are those of the files, even of files cut short later") {
  for (const std::string type : {"read.cifar10", "read.cifar100", "read.mnist"}) {
    CAPTURE(type);
    const Generated set(type);
    const auto read = set.source(false);
    const auto held = set.source(true);
    read->open();
    held->open();
    REQUIRE(held->size() == 192);
    CHECK(held->generated());
    CHECK(read_sample(*held, 7).origin().to_string() == read_sample(*read, 7).origin().to_string());
    CHECK(read->files({7}).size() == 1);
    CHECK(held->files({7}).empty());
    std::vector<Bytes> wanted;
    for (std::uint64_t i = 0; i < 192; ++i) wanted.push_back(bytes_of(*read, i));
    shorten_all(set.folder.path("set"));
    CHECK(has(error_of([&] { read_sample(*read, 191); }), "cut short"));
    for (std::uint64_t i = 0; i < 192; ++i) REQUIRE(bytes_of(*held, i) == wanted[i]);
  }
}

TEST_CASE("reading a sample allocates nothing once its buffers are there") {
  for (const std::string type : {"read.cifar10", "read.mnist"}) {
    for (const bool hold : {false, true}) {
      CAPTURE(type);
      CAPTURE(hold);
      const Generated set(type);
      const auto source = set.source(hold);
      source->open();
      Arena arena;
      Sample sample;
      const auto pass = [&] {
        for (std::uint64_t i = 0; i < 192; ++i) {
          source->read(sample, SampleContext({.index = i}, arena));
          arena.reset();
        }
      };
      pass();
      const std::uint64_t before = allocations.load();
      pass();
      CHECK(allocations.load() == before);
    }
  }
}

TEST_CASE("variants of a pipeline hold a file once") {
  const Generated set("read.cifar10");
  const OpenContext context{.shared = std::make_shared<SharedObjects>()};
  const auto first = set.source(true);
  const auto second = set.source(true);
  first->open_with(context);
  const std::string file = read_sample(*first, 0).origin().to_string();
  Bytes changed = read_bytes(file);
  const std::uint8_t pixel = changed[1];
  changed[1] ^= 0xFF;
  set.folder.write("set/" + std::filesystem::path(file).filename().string(), changed);
  second->open_with(context);
  CHECK(read_sample(*second, 0).field("image").as<std::uint8_t>()[0] == pixel);
  // A file of another size is another file.
  const Bytes record(changed.begin(), changed.begin() + 3073);
  changed.insert(changed.end(), record.begin(), record.end());
  set.folder.write("set/" + std::filesystem::path(file).filename().string(), changed);
  const auto third = set.source(true);
  third->open_with(context);
  CHECK(third->size() == 193);
  CHECK(read_sample(*third, 0).field("image").as<std::uint8_t>()[0] == changed[1]);
}

TEST_CASE("a stop is noticed before a file is read into memory") {
  for (const std::string type : {"read.cifar10", "read.mnist"}) {
    CAPTURE(type);
    const Generated set(type);
    std::stop_source stop;
    stop.request_stop();
    const auto held = set.source(true);
    CHECK(has(error_of([&] { held->open_with({.stop = stop.get_token()}); }), "stopped"));
  }
}

TEST_CASE("a damaged label of a record in memory is an error of its sample") {
  const TemporaryFolder folder;
  Bytes records(3 * 3073);
  records[2 * 3073] = 10;
  const auto source = make_source("read.cifar10", folder.write("label.bin", records), {kHeld});
  source->open();
  CHECK_NOTHROW(read_sample(*source, 1));
  CHECK(has(error_of([&] { read_sample(*source, 2); }), "has the label 10"));
}
