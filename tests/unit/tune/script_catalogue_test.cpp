// Each remedy of scripts in Python that an arm can run: proposed, run and kept where it gains;
// refused where it does not.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include "unit/tune/priced_script.hpp"
#include <doctest/doctest.h>

#include "cachebisect/tune/climb.hpp"

using namespace cachebisect;
using test::kMicro;
using test::PricedChange;
using test::PricedScript;
using test::stage_named;

namespace {

const std::string kOpenStage = "PIL.open";
const std::string kResize = "transforms[0] Resize";
const std::string kCropStage = "transforms[1] RandomCrop";
const std::string kFloatsStage = "transforms[2] ToTensor";
const std::string kTransfer = "transfer";

/// As many workers as cores; photos that are resized, cropped and made floats.
SimulatedChain photos(double open_us = 50) {
  SimulatedChain chain;
  chain.cores = 2;
  chain.source_bytes = 20e3;
  chain.stages = {
      {.name = "read Boxes.__getitem__", .category = Category::read, .seconds = 10 * kMicro},
      {.name = kOpenStage, .category = Category::decode, .seconds = open_us * kMicro},
      {.name = kResize, .category = Category::augment, .seconds = 50 * kMicro},
      {.name = kCropStage, .category = Category::augment, .seconds = 20 * kMicro},
      {.name = kFloatsStage, .category = Category::augment, .seconds = 30 * kMicro}};
  return chain;
}

/// A worker process sends its batches.
SimulatedChain sending(double us) {
  SimulatedChain chain = photos();
  chain.stages.push_back(
      {.name = kTransfer, .category = Category::transfer, .seconds = us * kMicro});
  return chain;
}

PricedChange scaled(const std::string& stage, double factor) {
  return [=](SimulatedChain& chain, const std::string&) {
    stage_named(chain, stage).seconds *= factor;
  };
}

/// Stages up to Resize cost nothing, and what serves their output so much.
PricedChange served(double us) {
  return [=](SimulatedChain& chain, const std::string&) {
    for (std::size_t s = 0; s < 3; ++s) chain.stages[s].seconds = 0;
    chain.stages[0].seconds = us * kMicro;
  };
}

void set_workers(SimulatedChain& chain, const std::string& value) {
  chain.workers = std::stoi(value);
}

/// A remedy, the setting that runs it, and a chain on which it is proposed.
struct CodeRow {
  std::string id;
  std::string setting;
  SimulatedChain chain;
  std::function<void(ChainDescription&)> describe{};  ///< what the adapter found
  tune::Options options{};
};

JobSetting setting_of_words(const std::string& name, std::vector<std::string> words) {
  return {.path = name,
          .name = name,
          .code = name + "({})",
          .values = SettingValues::word,
          .words = std::move(words),
          .can_run = true};
}

bool keeps(const CodeRow& row, const PricedChange& change, bool must_be_tried = true) {
  CAPTURE(row.id);
  PricedScript script(row.chain, {{row.setting, change}});
  script.description.samples = 2000;
  script.description.stages[3].random = true;
  for (std::size_t s = 3; s < script.description.stages.size(); ++s) {
    script.description.stages[s].cacheable = false;
  }
  if (row.describe) row.describe(script.description);
  const tune::Result result = tune::tune(script, row.options);
  const auto trial = std::ranges::find(result.trials, row.id, &tune::Trial::id);
  if (!must_be_tried && trial == result.trials.end()) return false;
  REQUIRE_MESSAGE(trial != result.trials.end(), result.end);
  CHECK(trial->fault == "");
  REQUIRE(trial->measured.value);
  CHECK(trial->kept == (*trial->measured.value >= tune::kLeastGain));
  if (trial->kept && trial->predicted.interval) {
    CHECK(trial->predicted.interval->low <= *trial->measured.value + 0.02);
    CHECK(trial->predicted.interval->high >= *trial->measured.value - 0.02);
  }
  return trial->kept;
}

}  // namespace

TEST_CASE("catalogue of scripts: a cache in memory, in a file, and a data set written once") {
  const test::TemporaryFolder scratch;
  for (const auto& [id, setting] : {std::pair<std::string, std::string>{"cache", "cache"},
                                    {"cache_disk", "disk_cache"},
                                    {"prepare", "prepared"}}) {
    CodeRow row{.id = id, .setting = setting, .chain = photos()};
    row.chain.stages[2].seconds = 500 * kMicro;
    row.describe = [setting = setting](ChainDescription& chain) {
      chain.settings.all.push_back(setting_of_words(setting, {"transforms[0]"}));
      chain.samples = 600'000;
      chain.cache_hit = CacheHit{.seconds = 20 * kMicro, .within = 1.5};
    };
    row.options.scratch = scratch.path("scratch");
    CHECK(keeps(row, served(20)));
    CHECK_FALSE(keeps(row, served(900)));
  }
}

TEST_CASE("catalogue of scripts: workers, more and fewer") {
  CodeRow row{.id = "workers", .setting = "num_workers", .chain = photos(500)};
  row.chain.cores = 4;
  CHECK(keeps(row, set_workers));
  const auto none = [](SimulatedChain&, const std::string&) {};
  CHECK_FALSE(keeps(row, none));
}

TEST_CASE("catalogue of scripts: no workers, where sending a batch takes longer than making it") {
  CodeRow row{.id = "no_workers", .setting = "num_workers", .chain = sending(600)};
  row.chain.workers = 1;
  CHECK(keeps(row, [](SimulatedChain& chain, const std::string& value) {
    set_workers(chain, value);
    if (chain.workers == 0) stage_named(chain, kTransfer).seconds = 0;
  }));
  CHECK_FALSE(keeps(row, [](SimulatedChain& chain, const std::string& value) {
    set_workers(chain, value);
    if (chain.workers == 0) stage_named(chain, kTransfer).seconds = 900 * kMicro;
  }));
}

TEST_CASE("catalogue of scripts: settings of workers that the adapter found to matter") {
  for (const std::string id : {"malloc", "dask_threads"}) {
    CodeRow row{.id = id, .setting = id, .chain = photos(500)};
    row.describe = [id](ChainDescription& chain) { chain.settings.advice[id] = "a line"; };
    CHECK(keeps(row, scaled(kOpenStage, 0.7)));
    CHECK_FALSE(keeps(row, scaled(kOpenStage, 1.1)));
  }
}

TEST_CASE("catalogue of scripts: one thread of each worker") {
  CodeRow row{.id = "worker_threads", .setting = "worker_threads", .chain = photos(500)};
  row.describe = [](ChainDescription& chain) { chain.worker_threads = 4; };
  CHECK(keeps(row, scaled(kOpenStage, 0.7)));
  CHECK_FALSE(keeps(row, scaled(kOpenStage, 1.1)));
}

TEST_CASE("catalogue of scripts: a longer queue, where some samples take far longer") {
  CodeRow row{.id = "longer_queue", .setting = "prefetch_factor", .chain = photos(200)};
  row.chain.stages[1].factor = test::rarely(64, 60);
  row.chain.batch_size = 8;
  row.chain.ring_prefetch = 2;
  row.chain.step_seconds = 1.3e-3;
  const auto longer = [](SimulatedChain& chain, const std::string& value) {
    chain.ring_prefetch = chain.workers * std::stoi(value);
  };
  CHECK(keeps(row, longer));
  CHECK_FALSE(keeps(row, [](SimulatedChain&, const std::string&) {}));
  row.chain.stages[1].factor = nullptr;
  CHECK_FALSE(keeps(row, longer, false));
}

TEST_CASE("catalogue of scripts: several samples at once in each worker") {
  CodeRow row{.id = "in_flight", .setting = "read_threads", .chain = photos()};
  row.chain.stages[0].seconds = 900 * kMicro;
  row.chain.stages[0].kind = CostKind::wait;
  CHECK(keeps(row, scaled("read Boxes.__getitem__", 0.125)));
  CHECK_FALSE(keeps(row, scaled("read Boxes.__getitem__", 1)));
}

TEST_CASE("catalogue of scripts: a crop that runs earlier") {
  CodeRow row{.id = "order", .setting = "order", .chain = photos()};
  row.chain.stages[2].seconds = 900 * kMicro;
  row.describe = [](ChainDescription& chain) {
    JobSetting order = setting_of_words("order", {"transforms[1] before transforms[0]"});
    chain.settings.all.push_back(order);
    for (std::size_t s = 0; s < chain.stages.size(); ++s) {
      chain.stages[s].output_bytes = s < 3 ? 40e3 : 10e3;
    }
  };
  CHECK(keeps(row, scaled(kResize, 0.25)));
  CHECK_FALSE(keeps(row, scaled(kResize, 1)));
}

TEST_CASE("catalogue of scripts: images decoded at half their size, where it may change training") {
  CodeRow row{.id = "partial_decode", .setting = "decode_scale", .chain = photos(900)};
  CHECK_FALSE(keeps(row, scaled(kOpenStage, 0.4), false));
  row.options.allow_semantic = true;
  CHECK(keeps(row, scaled(kOpenStage, 0.4)));
  CHECK_FALSE(keeps(row, scaled(kOpenStage, 1)));
}

TEST_CASE("catalogue of scripts: members of a Compose on the device") {
  CodeRow row{.id = "ship_bytes", .setting = "on_device", .chain = photos()};
  row.chain.stages[4].seconds = 900 * kMicro;
  row.describe = [](ChainDescription& chain) {
    chain.stages[4].makes_floats = true;
    chain.settings.all.push_back(setting_of_words("on_device", {"transforms[2]"}));
  };
  const auto moved = [](double us) {
    return [us](SimulatedChain& chain, const std::string&) {
      stage_named(chain, kFloatsStage).seconds = 0;
      chain.step_seconds += us * kMicro * static_cast<double>(chain.batch_size);
    };
  };
  CHECK(keeps(row, moved(1)));
  CHECK_FALSE(keeps(row, moved(900)));
}

TEST_CASE("catalogue of scripts: pinned memory, and a copy that the step does not wait for") {
  CodeRow row{.id = "overlap_copy", .setting = "non_blocking", .chain = photos()};
  row.chain.copy_bytes_per_second = 5e7;
  row.chain.copy_non_blocking = false;
  const auto ahead = [](SimulatedChain& chain, const std::string&) {
    chain.copy_non_blocking = true;
  };
  CHECK(keeps(row, ahead));
  row.chain.step_seconds = kMicro;
  CHECK_FALSE(keeps(row, ahead));
}

TEST_CASE("catalogue of scripts: batches that stay in pageable memory") {
  CodeRow row{.id = "no_pinning", .setting = "pin_memory", .chain = photos()};
  row.chain.stages.push_back({.name = "pin", .category = Category::pin, .seconds = 600 * kMicro});
  CHECK(keeps(row, scaled("pin", 0)));
  CHECK_FALSE(keeps(row, scaled("pin", 1.2)));
}

TEST_CASE("catalogue of scripts: what the step never reads is left out") {
  CodeRow row{.id = "unused", .setting = "unused", .chain = sending(600)};
  row.describe = [](ChainDescription& chain) {
    chain.batch_contents = BatchContents{0, 3, 3, 8e6, 6e6};
    chain.settings.advice["unused"] = "del batch['depth']";
    chain.settings.all.push_back(setting_of_words("unused", {"drop"}));
  };
  CHECK(keeps(row, scaled(kTransfer, 0.25)));
  CHECK_FALSE(keeps(row, scaled(kTransfer, 1)));
}

TEST_CASE("catalogue of scripts: tensors shared by the names of files") {
  CodeRow row{.id = "sharing_strategy", .setting = "sharing_strategy", .chain = sending(600)};
  row.describe = [](ChainDescription& chain) {
    chain.batch_contents = BatchContents{0, 64, 64, 8e6};
  };
  CHECK(keeps(row, scaled(kTransfer, 0.5)));
  CHECK_FALSE(keeps(row, scaled(kTransfer, 1.2)));
}
