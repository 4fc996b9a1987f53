#include "cachebisect/replay/cache/boundary_cache.hpp"

#include <set>
#include <string>

#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;

namespace {

struct Filled {
  explicit Filled(const test::ChainOptions& options, const CacheBudget& budget = {},
                  std::shared_ptr<Device> on = make_cpu_device())
      : pipeline(test::random_chain(options)),
        device(std::move(on)),
        loader(pipeline, *device, {options.workers, 2, false, {}}),
        cache(pipeline, *device, pipeline.copy_options(), LiveOrder(pipeline)),
        facts(cache.fill(loader, budget, {})) {}

  Pipeline pipeline;
  std::shared_ptr<Device> device;
  Executor loader;
  BoundaryCache cache;
  CacheFacts facts;
};

/// Ten samples per batch, one stage between two others.
Pipeline with_stage(const PipelineBuilder::ProcessFunction& stage) {
  return PipelineBuilder{}
      .source("read", 64, test::read_image)
      .stage("before", [](const Sample&, Sample&) {})
      .stage("guilty", stage)
      .stage("after", [](const Sample&, Sample&) {})
      .collate()
      .copy()
      .batch_size(8)
      .workers(1)
      .device("cpu")
      .build();
}

void overwrite(const Field& field) { *const_cast<std::byte*>(field.data()) ^= std::byte{0xFF}; }

}  // namespace

TEST_CASE("every boundary holds the same K samples, dense and in its own memory") {
  const Filled filled({.samples = 60, .batch_size = 8, .workers = 2, .batch_stage = true});
  const BoundaryCache& cache = filled.cache;
  REQUIRE(cache.samples() == 56);
  CHECK(filled.facts.samples == 56);
  CHECK(filled.facts.limited_by == "data set");
  std::set<std::uint64_t> distinct;
  for (const SampleIndex index : cache.indices()) distinct.insert(index);
  CHECK(distinct.size() == 56);
  std::set<const std::byte*> places;
  for (std::size_t b = 1; b <= filled.pipeline.copy_position(); ++b) {
    CAPTURE(b);
    const HostCacheView view = cache.host(b);
    CHECK((b <= filled.pipeline.collate_position() ? view.samples.size() == 56
                                                   : view.batches.size() == 7));
    for (std::size_t i = 0; i < view.samples.size(); ++i) {
      CHECK(view.samples[i].index() == cache.indices()[i]);
      for (const auto& named : view.samples[i].fields()) {
        CHECK(named.field.view().is_dense());
        CHECK(places.insert(named.field.data()).second);
      }
    }
    for (std::size_t i = 0; i < view.batches.size(); ++i) {
      CHECK(view.batches[i].indices.front() == cache.indices()[i * 8]);
      for (const BatchField& field : view.batches[i].fields) {
        CHECK(places.insert(field.tensor.data).second);
      }
    }
  }
  for (std::size_t b = filled.pipeline.copy_position() + 1; b <= filled.pipeline.stages().size();
       ++b) {
    CHECK(cache.device(b).size() == 7);
    CHECK(cache.device(b)[3].indices.front() == cache.indices()[24]);
  }
}

TEST_CASE("the cache facts give the size of a sample at every boundary") {
  const Filled filled({});
  const std::vector<double>& bytes = filled.facts.item_bytes;
  REQUIRE(bytes.size() == filled.pipeline.stages().size() + 1);
  REQUIRE(filled.facts.fields.size() == 2);
  CHECK(filled.facts.fields[0].name == "image");
  CHECK_FALSE(filled.facts.fields[0].whole);
  CHECK(filled.facts.fields[1].whole);
  CHECK(bytes[0] == 0);
  CHECK(bytes[1] == 9 * 9 * 3 + 8);
  CHECK(bytes[2] == 6 * 6 * 3 + 8);
  CHECK(bytes[3] == 6 * 6 * 3 * 4 + 8);
  CHECK(bytes[5] == 5 * 5 * 3 * 4 + 8);
  CHECK(filled.facts.bytes_host > 96 * (bytes[1] + bytes[2] + bytes[3] + bytes[4]));
  CHECK(filled.facts.serve_seconds_per_sample.size() == bytes.size());
  CHECK(filled.facts.serve_seconds_per_sample[1] > 0);
}

TEST_CASE("on the emulated device the device boundaries have shapes and no bytes") {
  const Filled filled({}, {}, make_emulated_device({}));
  const DeviceBatch& batch = filled.cache.device(filled.pipeline.stages().size())[0];
  CHECK(batch.size == 8);
  CHECK(batch.tensor("image").shape == Shape{8, 3, 5, 5});
  CHECK(filled.cache.intact(filled.pipeline.stages().size()));
}

TEST_CASE("a smaller budget lowers K, and one that holds no batch is refused") {
  CacheBudget budget;
  budget.host_bytes = 200'000;
  const Filled filled({.samples = 96}, budget);
  CHECK(filled.facts.limited_by == "host budget");
  CHECK(filled.facts.samples % 8 == 0);
  CHECK(filled.facts.samples < 96);
  CHECK(filled.facts.bytes_host + filled.facts.bytes_device <= 200'000);
  budget.host_bytes = 1000;
  const std::string text = error_message([&] { const Filled none({}, budget); }, ErrorKind::usage);
  CHECK(has(text, "--cache-host"));
  CHECK(has(text, "does not hold one batch"));
}

TEST_CASE("caches can be filled again with another budget") {
  Filled filled({});
  CacheBudget budget;
  budget.host_bytes = 150'000;
  CHECK(filled.cache.fill(filled.loader, budget, {}).samples < filled.facts.samples);
  CHECK(filled.cache.fill(filled.loader, {}, {}).samples == filled.facts.samples);
}

namespace {

std::set<std::uint64_t> indices_of(const BoundaryCache& cache) {
  std::set<std::uint64_t> all;
  for (const SampleIndex index : cache.indices()) all.insert(index);
  return all;
}

/// 16 samples fit into the budget.
CacheBudget tight_budget() {
  const Filled probe({.samples = 400});
  CacheBudget budget;
  budget.host_bytes = 1.2 * 16 * (probe.facts.bytes_host + probe.facts.bytes_device) /
                      static_cast<double>(probe.facts.samples);
  return budget;
}

/// A sample of index i has 100 bytes and, from `from` on, 100 i more.
Pipeline growing(std::uint64_t samples, std::uint64_t from) {
  return PipelineBuilder{}
      .source("read", samples,
              [=](SampleIndex i, Sample& out) {
                const auto extra = i >= from ? 100 * i.value : 0;
                out.field("blob").resize_as<std::uint8_t>({static_cast<std::int64_t>(100 + extra)});
              })
      .stage("cut",
             [](const Sample&, Sample& out) { out.field("blob").resize_as<std::uint8_t>({4}); })
      .collate()
      .copy()
      .batch_size(8)
      .workers(1)
      .shuffle(false)
      .device("cpu")
      .build();
}

}  // namespace

TEST_CASE("a refill caches the next samples, as many as before or as requested") {
  Filled filled({.samples = 400}, tight_budget());
  const std::uint64_t count = filled.cache.samples();
  REQUIRE(count >= 8);
  REQUIRE(count <= 32);
  const auto first = indices_of(filled.cache);
  const auto facts = filled.cache.refill(filled.loader, 0, {});
  REQUIRE(facts.has_value());
  CHECK(facts->samples == count);
  CHECK(facts->item_bytes == filled.facts.item_bytes);
  for (const std::uint64_t index : indices_of(filled.cache)) CHECK(first.count(index) == 0);
  for (std::size_t b = 1; b <= filled.pipeline.stages().size(); ++b) CHECK(filled.cache.intact(b));
  CHECK(filled.cache.refill(filled.loader, 8, {})->samples == 8);
  CHECK(filled.cache.refill(filled.loader, 3, {})->samples == 8);  // whole batches
}

TEST_CASE("a refill beyond the data set or the budget leaves the caches unchanged") {
  Filled small({.samples = 64});
  const auto before = indices_of(small.cache);
  CHECK_FALSE(small.cache.refill(small.loader, 0, {}).has_value());  // the data set has no others
  CHECK_FALSE(small.cache.refill(small.loader, 200, {}).has_value());
  CHECK(indices_of(small.cache) == before);
  Filled tight({.samples = 400}, tight_budget());
  const auto present = indices_of(tight.cache);
  CHECK_FALSE(tight.cache.refill(tight.loader, 4 * tight.cache.samples(), {}).has_value());
  CHECK(indices_of(tight.cache) == present);
  CHECK(tight.cache.intact(1));
}

TEST_CASE("fresh samples replace the cached ones in the same memory, with other random draws") {
  Filled filled({.samples = 400, .workers = 1});  // two would fill the memory in any order
  const auto first = indices_of(filled.cache);
  const std::uint64_t epoch = filled.cache.epoch();
  const std::byte* const place = filled.cache.host(1).samples[0].fields()[0].field.view().data;
  filled.cache.freshen(filled.loader, first.size(), {});
  CHECK(filled.cache.samples() == first.size());
  CHECK(filled.cache.host(1).samples[0].fields()[0].field.view().data == place);
  for (const std::uint64_t index : indices_of(filled.cache)) CHECK(first.count(index) == 0);
  CHECK(filled.cache.epoch() != epoch);
  // As many as wanted, in whole batches, while the data set has them.
  filled.cache.freshen(filled.loader, 100, {});
  CHECK(filled.cache.samples() >= 100);
  filled.cache.freshen(filled.loader, 100'000, {});
  CHECK(filled.cache.samples() <= 400);
}

TEST_CASE("fresh samples within the host budget") {
  Filled tight({.samples = 400}, tight_budget());
  const std::uint64_t count = tight.cache.samples();
  tight.cache.freshen(tight.loader, 400, {});
  CHECK(tight.cache.samples() == count);
}

TEST_CASE("later samples larger than the first do not exceed the budget") {
  const Pipeline pipeline = growing(64, 24);
  const auto device = make_cpu_device();
  Executor loader(pipeline, *device, {1, 2, false, {}});
  BoundaryCache cache(pipeline, *device, pipeline.copy_options(), LiveOrder(pipeline));
  const double all = cache.fill(loader, {}, {}).bytes_host;
  CacheBudget budget;
  budget.host_bytes = 40'000;
  const CacheFacts facts = cache.fill(loader, budget, {});
  CHECK(all > 100'000);
  CHECK(facts.samples < 64);
  CHECK(facts.limited_by == "host budget");
  CHECK(facts.bytes_host <= 40'000);
}

TEST_CASE("after a failed refill the former samples are cached") {
  std::uint64_t good = 64;
  const Pipeline pipeline = PipelineBuilder{}
                                .source("read", 64,
                                        [&](SampleIndex i, Sample& out) {
                                          if (i >= good) throw Error(ErrorKind::data, "bad sector");
                                          test::read_image(i, out);
                                        })
                                .collate()
                                .copy()
                                .batch_size(8)
                                .workers(0)
                                .shuffle(false)
                                .device("cpu")
                                .build();
  const auto device = make_cpu_device();
  Executor loader(pipeline, *device, {0, 2, false, {}});
  BoundaryCache cache(pipeline, *device, pipeline.copy_options(), LiveOrder(pipeline));
  const CacheFacts all = cache.fill(loader, {}, {});
  CacheBudget budget;
  budget.host_bytes =
      1.5 * 16 * (all.bytes_host + all.bytes_device) / static_cast<double>(all.samples);
  cache.fill(loader, budget, {});
  const auto refused = [&] {
    const auto before = indices_of(cache);
    const std::string text =
        error_message([&] { (void)cache.refill(loader, 0, {}); }, ErrorKind::data);
    CHECK(has(text, "bad sector"));
    REQUIRE(cache.filled());
    CHECK(indices_of(cache) == before);
    CHECK(cache.intact(1));
  };
  good = cache.samples();  // the first ones
  REQUIRE(good <= 24);
  refused();  // the budget holds only one filling
  good = 64;
  REQUIRE(cache.refill(loader, 8, {}).has_value());
  good = *indices_of(cache).rbegin() + 1;
  refused();  // the budget holds old and new
}

TEST_CASE("a change of one byte is detected at its boundary only") {
  Filled filled({});
  overwrite(filled.cache.host(2).samples[17].field("image"));
  for (std::size_t b = 1; b <= filled.pipeline.stages().size(); ++b) {
    CHECK(filled.cache.intact(b) == (b != 2));
  }
}

TEST_CASE("a stage that writes its input is named after the first replay") {
  const auto step = std::make_shared<test::RecordingStep>();
  PipelineReplayer replayer(
      with_stage([](const Sample& input, Sample&) { overwrite(input.field("image")); }),
      make_cpu_device(), step);
  replayer.prepare({}, {});
  for (const int boundary : {1, 2}) {
    const std::string text = error_message(
        [&] {
          replayer.run({{ArmKind::replay, boundary, 0, {}}, 3, 1, 0}, {});
        },
        ErrorKind::data);
    CAPTURE(text);
    CHECK(has(text, "stage 'guilty' changed its input"));
  }
  replayer.run({{ArmKind::replay, 3, 0, {}}, 3, 1, 0}, {});  // replay after the stage is unaffected
}

TEST_CASE("a step that writes its batch is named") {
  const auto step = std::make_shared<test::RecordingStep>();
  PipelineReplayer replayer(with_stage([](const Sample&, Sample&) {}), make_cpu_device(), step);
  replayer.prepare({}, {});
  step->then = [](const DeviceBatch& batch) { batch.fields[0].tensor.data[0] ^= std::byte{1}; };
  const std::string text = error_message(
      [&] {
        replayer.run({{ArmKind::replay, 6, 0, {}}, 3, 1, 0}, {});
      },
      ErrorKind::data);
  CHECK(has(text, "training step 'recording' changed the batch"));
}

TEST_CASE("a stop request ends the filling") {
  std::stop_source stop;
  const auto slow = with_stage([&](const Sample& input, Sample&) {
    if (input.index() == 63) stop.request_stop();
  });
  PipelineReplayer replayer(slow, make_cpu_device(), std::make_shared<test::RecordingStep>());
  const std::string text =
      error_message([&] { replayer.prepare({}, stop.get_token()); }, ErrorKind::interrupted);
  CHECK(text != "no error");
}
