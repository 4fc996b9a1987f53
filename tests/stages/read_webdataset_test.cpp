// read.webdataset: samples as WebDataset groups them, read one by one and in runs.
#include <atomic>
#include <filesystem>
#include <sstream>
#include <thread>

#include "stages/tar_archive.hpp"
#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "cachebisect/pipeline/emulated_source.hpp"
#include "cachebisect/pipeline/open_context.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using Values = std::vector<NamedValue>;

std::unique_ptr<SourceStage> opened(const std::string& path, const Values& values = {}) {
  auto source = make_source("read.webdataset", path, values);
  source->open();
  return source;
}

/// The error of opening archives at this path.
std::string open_tar_error(const std::string& path, const Values& values = {}) {
  return error_of([&] { opened(path, values); });
}

/// The error of opening an archive with these members.
std::string archive_error(const std::string& members, const Values& values = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", members + tar_end());
  const std::string error = open_tar_error(path, values);
  const std::string start = "3: " + path + ": ";
  return error.starts_with(start) ? error.substr(start.size()) : error;
}

std::string image_of(const Sample& sample) {
  const auto bytes = sample.field("image").as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

std::string image_at(const SourceStage& source, std::uint64_t index) {
  return image_of(read_sample(source, index));
}

std::int64_t label_at(const SourceStage& source, std::uint64_t index) {
  return read_sample(source, index).field("label").as_integer();
}

/// Image i has i * 7 % 900 + 1 bytes, label i is i.
std::string numbered_archive(std::uint64_t first, std::uint64_t end) {
  std::string text;
  for (std::uint64_t i = first; i < end; ++i) {
    const std::string image(i * 7 % 900 + 1, static_cast<char>('a' + i % 26));
    text += tar_sample(std::to_string(i), image, std::to_string(i) + "\n");
  }
  return text + tar_end();
}

void check_numbered(const SourceStage& source, std::uint64_t index) {
  const Sample sample = read_sample(source, index);
  CHECK(sample.field("label").as_integer() == static_cast<std::int64_t>(index));
  CHECK(image_of(sample) == std::string(index * 7 % 900 + 1, static_cast<char>('a' + index % 26)));
}

}  // namespace

TEST_CASE("samples are those that WebDataset gives") {
  const std::string folder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/tar";
  std::istringstream lines(read_file(folder + "/samples.txt"));
  std::vector<std::string> expected;
  for (std::string line; std::getline(lines, line);) expected.push_back(line);
  const auto source = opened(folder);
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    const Sample sample = read_sample(*source, i);
    const std::string image = image_of(sample);
    const std::string name(sample.origin().name);
    const std::string archive(sample.origin().folder.substr(folder.size() + 1));
    found.push_back(archive + "|" + name.substr(0, name.rfind('.')) + "|" +
                    std::to_string(image.size()) + "|" + image.back() + "|" +
                    std::to_string(sample.field("label").as_integer()));
  }
  CHECK(expected.size() == 23);
  CHECK(found == expected);

  const auto json = opened(folder + "/webdataset.tar", {{"label", std::string("json:label")}});
  for (std::uint64_t i = 0; i < 6; ++i) CHECK(label_at(*json, i) == static_cast<int>(i % 3));
}

TEST_CASE("members are told apart by their extensions, in any order and case") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.tar", tar_file("x/0.CLS", "4") + tar_file("x/0.Png", "png") +
                   tar_file("x/0.jpg.txt", "no") + tar_file("x/.0.jpg", "hidden") +
                   tar_file("__info__/0.jpg", "no") + tar_file("x/README", "no") +
                   tar_file("x/0.jpg", "jpg") + tar_file("x.y/1.seg.png", "map") +
                   tar_file("x.y/1.cls", "5") + tar_file("x.y/1.webp", "") + tar_end());
  const auto source = opened(path);
  REQUIRE(source->size() == 2);
  CHECK(source->infer().size() == 2);
  const Sample first = read_sample(*source, 0);
  CHECK(image_of(first) == "jpg");
  CHECK(first.field("label").as_integer() == 4);
  CHECK(first.origin().to_string() == path + "/x/0.jpg");
  CHECK(error_of([&] { read_sample(*source, 1); }) ==
        "3: " + path + ": \"x.y/1.webp\" has no bytes (at byte " + std::to_string(19 * kBlock) +
            ")");
  CHECK(has(error_of([&] { read_sample(*source, 2); }), "1: sample 2 of 2"));
  CHECK_FALSE(source->generated());
  CHECK(source->read_runs().samples == 1);

  const auto others = opened(path, {{"image", std::vector<std::string>{".SEG.png", "PNG"}},
                                    {"label", std::string(".Cls")}});
  CHECK(image_at(*others, 0) == "png");
  CHECK(image_at(*others, 1) == "map");
  const auto unlabelled = opened(path, {{"label", std::string()}});
  CHECK(unlabelled->infer().size() == 1);
  CHECK(image_at(*unlabelled, 0) == "jpg");
  CHECK(read_sample(*unlabelled, 0).find("label") == nullptr);
}

TEST_CASE("image and label are read at once unless much lies between them") {
  const TemporaryFolder folder;
  const std::string between(40'000, 'x');
  const std::string path = folder.write(
      "a.tar", tar_sample("0", "near", "10") + tar_file("1.cls", "11") +
                   tar_file("1.jpg", "image") + tar_file("2.jpg", "far") +
                   tar_file("2.npy", between) + tar_file("2.cls", "12") + tar_file("3.cls", "13") +
                   tar_file("3.npy", between) + tar_file("3.jpg", "off") + tar_end());
  for (const double buffer : {0.0, 1.0}) {
    const auto source = opened(path, {{"shuffle_buffer_mb", buffer}});
    const std::vector<std::string> images{"near", "image", "far", "off"};
    for (std::uint64_t i = 0; i < images.size(); ++i) {
      CHECK(image_at(*source, i) == images[i]);
      CHECK(label_at(*source, i) == static_cast<std::int64_t>(10 + i));
    }
    REQUIRE(source->files({0}).size() == 1);
    CHECK(source->files({0})[0].path == path);
    CHECK(source->files({0})[0].offset == kBlock);
    CHECK(source->files({0})[0].bytes == 2 * kBlock + 2);
    REQUIRE(source->files({2}).size() == 2);
    CHECK(source->files({2})[0].bytes == 3);
    CHECK(source->files({2})[1].bytes == 2);
  }
}

TEST_CASE("a folder, a pattern and one archive are sets of archives, in order") {
  const TemporaryFolder folder;
  for (const std::string name : {"s-8", "s-9", "s-10", "s-11"})
    folder.write("tars/" + name + ".tar", tar_sample("k", name, "1") + tar_end());
  folder.write("tars/.s-0.tar", std::string("hidden"));
  folder.write("tars/s-8.tar.gz", std::string("left behind"));
  const auto images = [&](const std::string& path) {
    const auto source = opened(folder.path(path));
    std::string text;
    for (std::uint64_t i = 0; i < source->size(); ++i) text += image_at(*source, i) + " ";
    return text;
  };
  CHECK(images("tars") == "s-8 s-9 s-10 s-11 ");
  CHECK(images("tars/s-{8..11}.tar") == "s-8 s-9 s-10 s-11 ");
  CHECK(images("tars/s-{11,8}.tar") == "s-11 s-8 ");
  std::filesystem::create_directory_symlink("tars", folder.path("{tars}"));
  CHECK(images("{tars}/s-1{0..1}.tar") == "s-10 s-11 ");
  CHECK(images("tars/{s,s}-{9..10}.tar") == "s-9 s-10 s-9 s-10 ");
  CHECK(images("tars/s-{9..9}.tar") == "s-9 ");
  CHECK(images("tars/s-10.tar") == "s-10 ");
  for (const std::string name : {"p-0098", "p-0099", "p-0100", "q-{1..2}"})
    folder.write(name + ".tar", tar_sample("k", name, "1") + tar_end());
  CHECK(images("p-{0098..0100}.tar") == "p-0098 p-0099 p-0100 ");
  CHECK(images("p-{0098..100}.tar") == "p-0098 p-0099 p-0100 ");
  CHECK(images("q-{1..2}.tar") == "q-{1..2} ");
}

TEST_CASE("paths without archives are refused with what would be right") {
  const TemporaryFolder folder;
  CHECK(has(open_tar_error(folder.path("none.tar")), "none.tar: No such file or directory; give"));
  CHECK(has(open_tar_error(folder.path("a-{2..1}.tar")), "a-{2..1}.tar: No such file"));
  CHECK(has(open_tar_error(folder.path("a-{b..c}.tar")), "a-{b..c}.tar: No such file"));
  CHECK(
      has(open_tar_error(folder.path("a-{0..1}.tar")), "a-0.tar: cannot be opened: No such file"));
  CHECK(has(open_tar_error(folder.path("a-{0..99999999999}.tar")), "names more than 1000000"));
  CHECK(has(open_tar_error(folder.path("{0..9999}{0..9999}{0..9999}")), "names more than 1000000"));
  CHECK(has(open_tar_error(folder.path("{0..9}{0..99999}" + std::string(4000, 'x'))),
            "paths alone take more than 128 MiB"));
  CHECK(has(open_tar_error(folder.path()), "has no archives (*.tar, *.tar.gz, *.tgz, *.tar.zst)"));
  folder.write("train.tar.xz", std::string("x"));
  CHECK(has(open_tar_error(folder.path()),
            "has no archives that are read, but such as train.tar.xz"));
  std::filesystem::create_directory(folder.path("b.tar"));
  CHECK(has(open_tar_error(folder.path()), "b.tar: is a folder, not a file"));
  CHECK(has(open_tar_error(folder.path("b.tar")), "b.tar: has no archives"));
  const auto usage = [&](const Values& values) { return open_tar_error("/", values); };
  CHECK(has(usage({{"image", std::vector<std::string>{"jpg", "."}}}),
            "2: the extension '.' in \"image\" is empty"));
  CHECK(has(usage({{"label", std::string(":key")}}), "2: the extension '' in \"label\" is empty"));
  CHECK(has(usage({{"label", std::string("json:")}}), "2: \"label\" has no key behind 'json:'"));
}

TEST_CASE("samples that lack a member, or have one twice, are refused by name") {
  CHECK(archive_error("") == "has no samples; remove it, or name another path");
  CHECK(has(archive_error(tar_file("README", "1")), "has no samples"));
  CHECK(
      archive_error(tar_sample("0", "i", "1") + tar_file("1.cls", "1") + tar_file("1.txt", "1")) ==
      "the sample \"1\" has no image, its extensions are .cls, .txt; name the image's in "
      "\"image\"");
  CHECK(archive_error(tar_file("0.jpg", "1") + tar_file("0.json", "{}")) ==
        "the sample \"0\" has no .cls, its extensions are .jpg, .json; name the label's in "
        "\"label\", or give \"label\": \"\" if there is none");
  const std::string one = tar_sample("k", "i", "1");
  CHECK(archive_error(one + tar_file("k.JPG", "i")) ==
        "has \"k.JPG\" a second time, at byte " + std::to_string(5 * kBlock));
  CHECK(has(archive_error(one + tar_file("k.cls", "i")), "has \"k.cls\" a second time"));
  CHECK(archive_error(one + tar_sample("l", "i", "1") + one) ==
        "has the sample \"k\" twice; the members of a sample must follow each other, as `tar "
        "--sort=name` stores them");
  CHECK(
      has(archive_error(tar_file("\xff\x1b.txt", "1")), "the sample \"\\xff\\x1b\" has no image"));
  CHECK(has(archive_error(tar_file("0.jpg", "1") + tar_file("0.cls", std::string(1'100'000, '1'))),
            "\"0.cls\" has 1100000 bytes, more than it may have (1048576)"));
  // Neither a second image that is not read, nor one key in two archives, is wrong.
  CHECK(archive_error(one + tar_file("k.png", "i") + tar_file("k.txt", "") + tar_file("k.txt", ""))
            .empty());
}

TEST_CASE("an image above 1 GiB is refused before memory is taken for it") {
  const TemporaryFolder folder;
  constexpr std::uint64_t kOverLimit = (std::uint64_t{1} << 30U) + kBlock;
  const std::string path =
      folder.write("a.tar", TarBlockText{.name = "0.jpg", .size = octal(kOverLimit, 11)}.text());
  std::filesystem::resize_file(path, 3 * kBlock + kOverLimit);
  CHECK(has(open_tar_error(path), "\"0.jpg\" has 1073742336 bytes, more than it may have"));
}

TEST_CASE("a label that is no number is an error of its sample") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.tar", tar_sample("0", "i", "1") + tar_sample("n/1", "i", "cat\n\x1b") +
                                tar_sample("2", "i", "") + tar_end());
  const auto source = opened(path);
  CHECK(label_at(*source, 0) == 1);
  CHECK(error_of([&] { read_sample(*source, 1); }) ==
        "3: " + path + ": \"n/1.jpg\" has the .cls \"cat\\n\\x1b\", not a whole number (at byte " +
            std::to_string(7 * kBlock) + ")");
  CHECK(has(error_of([&] { read_sample(*source, 2); }), "has the .cls \"\", not a whole number"));
  const auto json = opened(path, {{"label", std::string("cls:id")}});
  CHECK(has(error_of([&] { read_sample(*json, 0); }),
            "has the .cls \"1\", not a JSON object with a whole number under \"id\""));
}

TEST_CASE("samples that are read in runs are those that are read alone, across archives") {
  const TemporaryFolder folder;
  folder.write("s-0.tar", numbered_archive(0, 1500));
  folder.write("s-1.tar", numbered_archive(1500, 1501));
  folder.write("s-2.tar", numbered_archive(1501, 4000));
  const auto alone = opened(folder.path());
  const auto source = opened(folder.path(), {{"shuffle_buffer_mb", 3.0}});
  REQUIRE(source->size() == 4000);
  const ReadRuns runs = source->read_runs();
  CHECK(runs.samples > 400);
  CHECK(runs.samples < 1000);
  CHECK(runs.mixed == 1);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    check_numbered(*source, i);
    check_numbered(*alone, i);
  }
  std::atomic<int> right{0};
  const auto work = [&](std::uint64_t step) {
    for (std::uint64_t i = 0; i < 400; ++i)
      right += label_at(*source, i * step % 4000) == static_cast<std::int64_t>(i * step % 4000);
  };
  {
    std::vector<std::jthread> threads;
    for (const std::uint64_t step : {7, 11, 1013}) threads.emplace_back(work, step);
  }
  CHECK(right == 1200);
}

TEST_CASE("emulated storage is asked once for a run, or else for a sample") {
  const TemporaryFolder folder;
  folder.write("s-0.tar", numbered_archive(0, 1500));
  folder.write("s-1.tar", numbered_archive(1500, 3000));
  const StorageSpec instant{.latency_ms = 0,
                            .latency_p99_ms = {},
                            .bandwidth_mb_per_s = 0,
                            .requests_per_second = 0,
                            .burst = 1};
  for (const double buffer : {0.0, 3.0}) {
    CAPTURE(buffer);
    EmulatedSource source(opened(folder.path(), {{"shuffle_buffer_mb", buffer}}), instant, 1);
    source.open();
    for (std::uint64_t i = 0; i < 3000; ++i) check_numbered(source, i);
    const std::uint64_t run = source.read_runs().samples;
    CHECK((run == 1) == (buffer == 0));
    CHECK(source.totals().requests == (3000 + run - 1) / run);
    CHECK(source.totals().bytes > 0);
  }
}

TEST_CASE("reading allocates nothing in the steady state") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", numbered_archive(0, 300));
  for (const double buffer : {0.0, 1.0}) {
    const auto source = opened(path, {{"shuffle_buffer_mb", buffer}});
    Arena arena;
    Sample sample;
    const auto pass = [&] {
      for (std::uint64_t i = 0; i < 300; ++i) {
        source->read(sample, SampleContext({.index = i}, arena));
        arena.reset();
      }
    };
    pass();
    pass();
    const std::uint64_t before = allocations.load();
    pass();
    CHECK(allocations.load() == before);
  }
}

TEST_CASE("an archive that is cut short while it is in use is an error of its samples") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", numbered_archive(0, 300));
  const auto source = opened(path);
  const auto runs = opened(path, {{"shuffle_buffer_mb", 1.0}});
  std::filesystem::resize_file(path, 100 * kBlock);
  check_numbered(*source, 0);
  CHECK(has(error_of([&] { read_sample(*source, 299); }), "3: " + path + ": ends within the "));
  CHECK(has(error_of([&] { read_sample(*runs, 0); }), "it was cut short while it was in use"));
}

TEST_CASE("more archives than may be open are opened for each read") {
  const TemporaryFolder folder;
  for (std::uint64_t i = 0; i < 40; ++i)
    folder.write("s-" + std::to_string(i) + ".tar", numbered_archive(i, i + 1));
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit low{.rlim_cur = 100, .rlim_max = usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const auto source = opened(folder.path());
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  for (std::uint64_t i = 0; i < 40; ++i) check_numbered(*source, i);
  folder.write("s-7.tar", numbered_archive(7, 9));
  CHECK(has(error_of([&] { read_sample(*source, 7); }),
            "when it was indexed; it was changed while it was in use"));
  std::filesystem::remove(folder.path("s-8.tar"));
  CHECK(has(error_of([&] { read_sample(*source, 8); }), "s-8.tar: cannot be opened: No such file"));
}

TEST_CASE("archives are indexed once for all variants of a pipeline, and a stop ends it") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tar", numbered_archive(0, 9000));
  std::vector<std::string> lines;
  const OpenContext context{.shared = std::make_shared<SharedObjects>(),
                            .progress = [&](const std::string& line) { lines.push_back(line); }};
  const auto open_again = [&](const Values& values) {
    const auto source = make_source("read.webdataset", path, values);
    source->open_with(context);
    return source->size();
  };
  CHECK(open_again({}) == 9000);
  CHECK(lines == std::vector<std::string>{"indexing " + path + ": 16,384 members"});
  CHECK(open_again({{"shuffle_buffer_mb", 1.0}}) == 9000);
  CHECK(lines.size() == 1);
  CHECK(open_again({{"label", std::string()}}) == 9000);
  CHECK(lines.size() == 2);
  std::stop_source stop;
  stop.request_stop();
  CHECK(error_of([&] {
          make_source("read.webdataset", path)->open_with({.stop = stop.get_token()});
        }) == "130: stopped");
}
