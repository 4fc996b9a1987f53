// `prepare` and read.shards: what is read back is what the stages make, bit for bit.
#include "cachebisect/prepare/prepare.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stop_token>
#include <string>

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/emulated_source.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/sampler.hpp"
#include "cachebisect/prepare/chain_prefix.hpp"
#include "cachebisect/prepare/prepare_text.hpp"
#include "cachebisect/prepare/prepared_pipeline.hpp"
#include "cachebisect/shards/record_codec.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
namespace pr = cachebisect::prepare;

namespace {

constexpr std::uint64_t kDigits = 150;

/// Digits in files of MNIST, made in the folder.
std::string digits_json(const TemporaryFolder& folder, const std::string& more_stages,
                        std::uint64_t samples) {
  return R"({"name": "digits", "batch_size": 8, "workers": 1, "device": "emulated", "stages": [
      {"use": "read.mnist", "path": ")" +
         folder.path("mnist") + R"(", "if_missing": "generate", "generated_samples": )" +
         std::to_string(samples) + R"(},
      {"use": "decode.mnist"}, {"use": "augment.to_float"}, )" +
         more_stages + R"({"use": "collate.stack"}, {"use": "copy.device"}],
      "train": {"kind": "emulated"}})";
}

Pipeline digits(const TemporaryFolder& folder, const std::string& more_stages = "",
                std::uint64_t samples = kDigits) {
  return Pipeline::from_json(digits_json(folder, more_stages, samples), all_stages());
}

/// Whether the samples at collate's input are the same, all of them.
void check_same_samples(const Pipeline& a, const Pipeline& b) {
  REQUIRE(a.samples() == b.samples());
  CHECK(a.stages()[a.collate_position()].output == b.stages()[b.collate_position()].output);
  pr::ChainPrefix first(a, a.collate_position());
  pr::ChainPrefix second(b, b.collate_position());
  for (std::uint64_t i = 0; i < a.samples(); ++i) {
    const Sample* const wanted = first.run({i});
    const Sample* const read = second.run({i});
    REQUIRE(wanted != nullptr);
    REQUIRE(read != nullptr);
    REQUIRE(read->byte_size() == wanted->byte_size());
    for (const Sample::NamedField& named : wanted->fields()) {
      const Field& field = read->field(named.name);
      CHECK(field.shape() == named.field.shape());
      CHECK(std::memcmp(field.data(), named.field.data(), field.byte_size()) == 0);
    }
  }
}

pr::Written written_to(const Pipeline& pipeline, const pr::Options& options) {
  const pr::Result result = pr::prepare(pipeline, options);
  REQUIRE(result.written.has_value());
  return *result.written;
}

Pipeline pipeline_in(const std::string& folder) {
  return Pipeline::from_json(folder + "/pipeline.json", all_stages());
}

}  // namespace

TEST_CASE("every place and codec gives back what the stages make") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder);
  for (const std::string after : {"read", "decode", "to_float"}) {
    for (const std::string& codec : shards::codecs_of_this_build()) {
      CAPTURE(after);
      CAPTURE(codec);
      const std::string out = folder.path(after + codec);
      const pr::Written written = written_to(
          pipeline, {.folder = out, .after = after, .codec = codec, .shard_bytes = 30'000});
      CHECK(written.samples == kDigits);
      CHECK(written.left_out == 0);
      CHECK(written.shards > 1);
      CHECK(written.pipeline == out + "/pipeline.json");
      const Pipeline prepared = pipeline_in(out);
      CHECK(prepared.source().generated());
      check_same_samples(pipeline, prepared);
    }
  }
}

TEST_CASE("read in runs, samples are the same ones, and each run is read once in an epoch") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder, "", 9000);
  for (const std::string& codec : shards::codecs_of_this_build()) {
    CAPTURE(codec);
    const std::string out = folder.path(codec);
    // Runs of 1 MB: some end in another shard.
    static_cast<void>(written_to(
        pipeline, {.folder = out, .after = "decode", .codec = codec, .shard_bytes = 700'000}));
    const auto runs =
        change_pipeline(load_pipeline(out + "/pipeline.json", all_stages()), all_stages(),
                        {{"stages.read.shuffle_buffer_mb", "3"},
                         {"emulate.storage",
                          R"({"latency_ms": 0, "bandwidth_mb_per_s": 0,
                                            "requests_per_second": 0})"}});
    const Pipeline prepared = Pipeline::from_spec(runs, all_stages());
    const ReadRuns together = prepared.source().read_runs();
    CHECK(together.samples > 1000);
    CHECK(together.mixed == 1);
    check_same_samples(pipeline, prepared);
    const Sampler sampler = sampler_of(prepared);
    std::vector<bool> seen(prepared.samples());
    for (std::uint64_t p = 0; p < prepared.samples(); ++p) {
      const SampleIndex index = sampler.index(1, p);
      seen[index] = true;
      CHECK(read_sample(prepared.source(), index).field("label").as_integer() < 10);
    }
    CHECK(std::ranges::all_of(seen, [](bool one) { return one; }));
    // Two passes of which the first may have left the last runs in memory.
    const std::uint64_t all = (prepared.samples() + together.samples - 1) / together.samples;
    const auto& emulated = dynamic_cast<const EmulatedSource&>(prepared.source());
    CHECK(emulated.totals().requests >= all);
    CHECK(emulated.totals().requests <= 2 * all);
  }
}

TEST_CASE("the folder can be moved, and each sample says where it lies") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder);
  static_cast<void>(written_to(pipeline, {.folder = folder.path("here"), .after = "decode"}));
  std::filesystem::rename(folder.path("here"), folder.path("there"));
  const Pipeline prepared = pipeline_in(folder.path("there"));
  check_same_samples(pipeline, prepared);
  const std::vector<FileRange> files = prepared.source().files({3});
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == folder.path("there") + "/shard-00000.cbs");
  CHECK(files[0].bytes == 792);
}

TEST_CASE("a run that was stopped is gone on with, at the same place and with the same codec") {
  constexpr std::uint64_t kMany = 3000;
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder, "", kMany);
  const std::string out = folder.path("out");
  const std::string codec = shards::codecs_of_this_build().back();
  std::stop_source stop;
  pr::Options options{.folder = out,
                      .after = "decode",
                      .codec = codec,
                      .shard_bytes = 5'000,
                      .stop = stop.get_token()};
  options.progress = [&stop](const std::string&) { stop.request_stop(); };
  const std::string message = error_message(
      [&] { static_cast<void>(pr::prepare(pipeline, options)); }, ErrorKind::interrupted);
  CHECK(has(message, "of 3,000 samples are whole; the same command goes on"));
  const pr::Written written = written_to(pipeline, {.folder = out, .shard_bytes = 5'000});
  CHECK(written.resumed > 0);
  CHECK(written.resumed < kMany);
  CHECK(written.after == "decode");
  CHECK(written.codec == codec);
  CHECK(written.samples == kMany);
  check_same_samples(pipeline, pipeline_in(out));
  CHECK(written_to(pipeline, {.folder = out, .after = "decode"}).resumed == kMany);
}

TEST_CASE("later stages may change: each version gets a pipeline file of its own") {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const pr::Options options{.folder = out, .after = "decode"};
  CHECK(written_to(digits(folder), options).pipeline == out + "/pipeline.json");
  const Pipeline other = digits(folder, R"({"use": "augment.center_crop", "size": 20},)");
  CHECK(written_to(other, options).pipeline == out + "/pipeline-2.json");
  CHECK(written_to(other, options).pipeline == out + "/pipeline-2.json");
  CHECK(written_to(digits(folder), options).pipeline == out + "/pipeline.json");
  check_same_samples(other, Pipeline::from_json(out + "/pipeline-2.json", all_stages()));
}

TEST_CASE("caches of the pipeline are neither filled nor kept") {
  const TemporaryFolder folder;
  const PipelineSpec spec =
      parse_pipeline(digits_json(folder, R"({"use": "cache.memory", "limit_gb": 0.1},)", kDigits),
                     "the test", all_stages(), {".", folder.path()});
  const Pipeline pipeline =
      Pipeline::from_spec(pr::without_caches(spec, all_stages()), all_stages());
  CHECK(pipeline.stages().size() == 5);
  static_cast<void>(written_to(pipeline, {.folder = folder.path("out"), .after = "decode"}));
  CHECK_FALSE(has(read_file(folder.path("out/pipeline.json")), "cache.memory"));
}

TEST_CASE("what draws random numbers is not prepared unless that is allowed") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder, R"({"use": "augment.horizontal_flip"},
                                             {"use": "augment.normalize", "mean": [0], "std": [1]},)");
  const auto refused = [&](const std::string& after) {
    return usage_error([&] {
      static_cast<void>(pr::prepare(pipeline, {.folder = folder.path("out"), .after = after}));
    });
  };
  for (const char* const after : {"horizontal_flip", "normalize"}) {
    CHECK(has(refused(after), "'horizontal_flip' draws random numbers"));
    CHECK(has(refused(after), "prepare after read, decode, to_float"));
    CHECK(has(refused(after), "--allow semantic"));
  }
  CHECK(has(refused("decoded"), "did you mean \"decode\""));
  CHECK(has(refused("collate"), "this stage has batches"));
  CHECK_FALSE(std::filesystem::exists(folder.path("out")));
  const pr::Written written = written_to(
      pipeline, {.folder = folder.path("out"), .after = "normalize", .random_too = true});
  CHECK(written.samples == kDigits);
  check_same_samples(pipeline, pipeline_in(folder.path("out")));
}

TEST_CASE("another pipeline does not write into the folder of this one") {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  static_cast<void>(written_to(digits(folder), {.folder = out, .after = "to_float"}));
  const Pipeline other = digits(folder, R"({"use": "augment.center_crop", "size": 20},)");
  const auto refused = [&](const std::string& after) {
    return usage_error(
        [&] { static_cast<void>(pr::prepare(other, {.folder = out, .after = after})); });
  };
  CHECK(has(refused("center_crop"), "augment.center_crop"));
  CHECK(has(refused("center_crop"), "name another folder"));
  // The same samples.
  CHECK(written_to(other, {.folder = out, .after = "to_float"}).resumed == kDigits);
}

TEST_CASE("a dry run, and a data set that gains nothing, write nothing") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder);
  const std::string out = folder.path("out");
  const pr::Result dry = pr::prepare(pipeline, {.folder = out, .after = "decode", .dry_run = true});
  CHECK_FALSE(dry.written.has_value());
  REQUIRE(dry.choice.has_value());
  CHECK(dry.choice->place.after == "decode");
  CHECK(dry.places.all.size() == 3);
  CHECK(dry.places.find("read")->stages == 1);
  CHECK_FALSE(std::filesystem::exists(out));
  const std::string text = to_text(dry, {});
  for (const char* const word : {"(now)", "read", "decode", "to_float", "792 B"}) {
    CHECK(has(text, word));
  }
  CHECK_FALSE(has(text, "Wrote"));
}

TEST_CASE("what gains most is chosen among what fits on the disk") {
  const pr::StoredCost cheap{.codec = "none", .bytes = 1000, .read_seconds = 1e-6};
  const pr::StoredCost large{.codec = "none", .bytes = 9000, .read_seconds = 1e-6};
  const pr::Places places{
      .all = {{.after = "read", .stages = 1, .seconds = 1e-6, .stored = {cheap}},
              {.after = "decode", .stages = 2, .seconds = 5e-5, .stored = {cheap}},
              {.after = "resize", .stages = 3, .seconds = 8e-5, .stored = {large}}},
      .seconds = 1e-4,
      .samples = 1000};
  CHECK(pr::best_choice(places, 1e9)->place.after == "resize");
  CHECK(pr::best_choice(places, 2e6)->place.after == "decode");
  CHECK_FALSE(pr::best_choice(places, 1e5).has_value());
  CHECK(pr::gain_of(places, places.all[1], cheap) == doctest::Approx(1e-4 / 5.1e-5 - 1));
  pr::Places cheap_chain = places;
  cheap_chain.all.resize(1);
  CHECK_FALSE(pr::best_choice(cheap_chain, 1e9).has_value());
  pr::Places little = cheap_chain;  // 4%, and 6%.
  little.all[0].seconds = 1e-6 + 1e-4 * 0.04 / 1.04;
  CHECK_FALSE(pr::best_choice(little, 1e9).has_value());
  little.all[0].seconds = 1e-6 + 1e-4 * 0.06 / 1.06;
  CHECK(pr::best_choice(little, 1e9).has_value());
  pr::Result nothing{.name = "x", .places = cheap_chain, .free_bytes = 1e9};
  CHECK(has(to_text(nothing, {}), "does not pay"));
  const auto json = nlohmann::json::parse(to_json(nothing));
  CHECK(json["choice"].is_null());
  CHECK(json["written"].is_null());
  CHECK(json["places"].size() == 1);
}

TEST_CASE("a disk that is too small is said before anything is written") {
  const TemporaryFolder folder;
  const Pipeline pipeline = digits(folder);
  const std::string out = "/proc/cachebisect-out";
  const std::string message = error_message(
      [&] { static_cast<void>(pr::prepare(pipeline, {.folder = out, .after = "decode"})); },
      ErrorKind::data);
  CHECK(has(message, out));
  CHECK(has(message, "are free"));
}

TEST_CASE("a pipeline that a program built is prepared, without a pipeline file") {
  const TemporaryFolder folder;
  const Pipeline built =
      PipelineBuilder()
          .name("built")
          .source("numbers", 40,
                  [](SampleIndex index, Sample& out) {
                    out.field("x").set(static_cast<std::int64_t>(index.value));
                  })
          .stage("double", [](const Sample& in,
                              Sample& out) { out.field("x").set(2 * in.field("x").as_integer()); })
          .collate()
          .copy()
          .batch_size(4)
          .device("emulated")
          .build();
  const std::string out = folder.path("out");
  const pr::Written written = written_to(built, {.folder = out, .after = "double"});
  CHECK(written.pipeline.empty());
  CHECK_FALSE(std::filesystem::exists(out + "/pipeline.json"));
  const auto source = make_source("read.shards", out);
  source->open();
  REQUIRE(source->size() == 40);
  CHECK(read_sample(*source, 7).field("x").as_integer() == 14);
}

TEST_CASE("a folder that is not a whole data set is refused with the remedy") {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) {
    return error_message(
        [&] {
          const auto source = make_source("read.shards", path);
          source->open();
        },
        ErrorKind::data);
  };
  CHECK(has(message(folder.path("none")), "cachebisect prepare --pipeline FILE --out FOLDER"));
  const std::string out = folder.path("out");
  static_cast<void>(written_to(
      digits(folder), {.folder = out, .after = "decode", .codec = "none", .shard_bytes = 40'000}));
  const std::string second = out + "/shard-00001.cbs";
  const std::string whole = read_file(second);
  std::filesystem::remove(second);
  CHECK(has(message(out), second));
  std::filesystem::copy_file(out + "/shard-00000.cbs", second);
  CHECK(has(message(out), "is not the shard that index.json names"));
  folder.write("out/shard-00001.cbs", whole.substr(0, whole.size() - 100));
  CHECK(has(message(out), second));
  std::string flipped = whole;
  flipped[5000] = static_cast<char>(flipped[5000] ^ 4);
  folder.write("out/shard-00001.cbs", flipped);
  const auto source = make_source("read.shards", out);
  source->open();
  int damaged = 0;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    const std::string what =
        error_message([&] { static_cast<void>(read_sample(*source, i)); }, ErrorKind::data);
    if (!what.empty()) CHECK(has(what, "is damaged at byte"));
    damaged += what.empty() ? 0 : 1;
  }
  CHECK(damaged == 1);
  folder.write("out/index.json", std::string("{\"format\": 1}"));
  CHECK(has(message(out), "index.json"));
}

#ifdef CACHEBISECT_WITH_TURBOJPEG

namespace {

Pipeline photos(const TemporaryFolder& folder, bool skip) {
  return Pipeline::from_json(R"({"name": "photos", "batch_size": 2, "workers": 1, "stages": [
      {"use": "read.image_folder", "path": ")" +
                                 folder.path("photos") + R"(",
       "if_missing": "generate", "generated_samples": 12},
      {"use": "decode.image", "on_error": ")" +
                                 (skip ? "skip" : "fail") + R"("},
      {"use": "augment.resize", "size": 32},
      {"use": "collate.stack"}, {"use": "copy.device"}],
      "train": {"kind": "emulated"}, "device": "emulated"})",
                             all_stages());
}

constexpr std::uintmax_t kDamaged = 100;  ///< bytes

/// The path of one more photo, which is no photo then; empty if there is none.
std::string damage_photo(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("photos"))) {
    if (entry.path().extension() != ".jpg" || entry.file_size() == kDamaged) continue;
    std::filesystem::resize_file(entry.path(), kDamaged);
    return entry.path().string();
  }
  return "";
}

}  // namespace

TEST_CASE("a folder within the data set is refused, one next to it is not") {
  const TemporaryFolder folder;
  const Pipeline pipeline = photos(folder, false);
  const std::string message = usage_error([&] {
    static_cast<void>(
        pr::prepare(pipeline, {.folder = folder.path("photos/prepared"), .after = "read"}));
  });
  CHECK(has(message, "lies in the data set"));
  CHECK_FALSE(std::filesystem::exists(folder.path("photos/prepared")));
  static_cast<void>(written_to(pipeline, {.folder = folder.path("photos2"), .after = "read"}));
}

TEST_CASE("a data set of which every sample is damaged is refused") {
  const TemporaryFolder folder;
  static_cast<void>(photos(folder, false));
  while (!damage_photo(folder).empty()) {
  }
  const std::string message = error_message(
      [&] {
        static_cast<void>(
            pr::prepare(photos(folder, true), {.folder = folder.path("out"), .after = "decode"}));
      },
      ErrorKind::data);
  CHECK(has(message, "are damaged"));
}

TEST_CASE("samples of any size are prepared") {
  const TemporaryFolder folder;
  const Pipeline pipeline = photos(folder, false);
  for (const std::string after : {"read", "decode"}) {
    const std::string out = folder.path(after);
    static_cast<void>(written_to(pipeline, {.folder = out, .after = after}));
    check_same_samples(pipeline, pipeline_in(out));
  }
}

TEST_CASE("a damaged sample is left out if its stage skips it, else it ends the run by its name") {
  const TemporaryFolder folder;
  static_cast<void>(photos(folder, false));
  const std::string path = damage_photo(folder);
  REQUIRE_FALSE(path.empty());
  const std::string message = error_message(
      [&] {
        static_cast<void>(pr::prepare(photos(folder, false),
                                      {.folder = folder.path("failed"), .after = "decode"}));
      },
      ErrorKind::data);
  CHECK(has(message, path));
  CHECK(has(message, "stage 'decode' (decode.image): sample"));
  const pr::Written written =
      written_to(photos(folder, true), {.folder = folder.path("skipped"), .after = "decode"});
  CHECK(written.samples == 11);
  CHECK(written.left_out == 1);
  CHECK(pipeline_in(folder.path("skipped")).samples() == 11);
}

#endif
