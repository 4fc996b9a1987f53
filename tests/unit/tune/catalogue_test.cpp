// Each remedy of pipeline files: proposed, predicted, run and kept where it gains; refused where it
// does not.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "unit/tune/priced_pipeline.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/tune/climb.hpp"

using namespace cachebisect;
using test::kMicro;
using test::PricedMachine;
using test::PricedPipeline;

namespace {

/// `copy`: further members of the copy stage; `train`: the training step.
std::string file_of(const std::string& stages, int workers = 2, const std::string& copy = "",
                    const std::string& train = R"("model": "lenet")") {
  return R"({"batch_size": 8, "workers": )" + std::to_string(workers) + R"(, "stages": [)" +
         stages + R"(, {"use": "collate.stack", "layout": "NCHW"}, {"use": "copy.device")" + copy +
         R"(}], "train": {)" + train + R"(}, "device": "emulated"})";
}

const std::string kCifar = R"({"use": "read.cifar10", "path": "/data"}, {"use": "decode.cifar"})";
const std::string kCrop = R"(, {"use": "augment.random_crop", "size": 32, "padding": 4})";
const std::string kFloats =
    R"(, {"use": "augment.normalize", "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]})";

/// What became of the trials of a remedy, in the order in which they ran.
std::vector<tune::Trial> trials_of(const std::string& id, const std::string& file,
                                   const PricedMachine& machine, const tune::Options& options) {
  PricedPipeline pipeline(file, machine);
  const tune::Result result = tune::climb(pipeline, options);
  CAPTURE(result.end);
  CHECK_FALSE(result.interrupted);
  std::vector<tune::Trial> of_remedy;
  for (const tune::Trial& trial : result.trials) {
    CHECK(trial.fault == "");
    if (trial.id == id) of_remedy.push_back(trial);
  }
  return of_remedy;
}

/// A remedy is run and kept; what was predicted holds what it gained.
void check_gains(const std::string& id, const std::string& file, const PricedMachine& machine,
                 const tune::Options& options = {}, bool is_predicted = true) {
  CAPTURE(id);
  const auto trials = trials_of(id, file, machine, options);
  const auto kept = std::ranges::find_if(trials, &tune::Trial::kept);
  REQUIRE(kept != trials.end());
  CHECK(*kept->measured.value > 0.01);
  REQUIRE(kept->predicted.interval.has_value() == is_predicted);
  if (!is_predicted) return;
  CHECK(kept->predicted.interval->low <= *kept->measured.value + 0.02);
  CHECK(kept->predicted.interval->high >= *kept->measured.value - 0.02);
}

/// The remedy is run, and not kept.
void check_refused(const std::string& id, const std::string& file, const PricedMachine& machine,
                   const tune::Options& options = {}) {
  CAPTURE(id);
  const auto trials = trials_of(id, file, machine, options);
  CHECK(std::ranges::none_of(trials, &tune::Trial::kept));
  REQUIRE(trials.size() >= 1);
  CHECK(*trials[0].measured.value < 0.01);
}

/// The remedy is not worth running.
void check_left_out(const std::string& id, const std::string& file, const PricedMachine& machine,
                    const tune::Options& options = {}) {
  CAPTURE(id);
  CHECK(trials_of(id, file, machine, options).empty());
}

const tune::Options kScratch{.scratch = "/scratch"};
const tune::Options kSemantic{.allow_semantic = true};

}  // namespace

TEST_CASE("catalogue: a cache in memory") {
  PricedMachine machine{.prices = {{"decode.cifar", {500 * kMicro}},
                                   {"augment.random_crop", {100 * kMicro}},
                                   {"cache.memory", {20 * kMicro}}}};
  check_gains("cache", file_of(kCifar + kCrop), machine);
  machine.prices["cache.memory"] = {600 * kMicro};
  check_refused("cache", file_of(kCifar + kCrop), machine);
}

TEST_CASE("catalogue: samples that random stages made, given more than once") {
  PricedMachine machine{
      .prices = {{"augment.random_erasing", {500 * kMicro}}, {"cache.memory", {20 * kMicro}}}};
  const std::string file = file_of(kCifar + R"(, {"use": "augment.random_erasing"})");
  check_gains("reuse", file, machine, kSemantic);
  check_left_out("reuse", file, machine);
  machine.prices["cache.memory"] = {600 * kMicro};
  check_refused("reuse", file, machine, kSemantic);
}

TEST_CASE("catalogue: a cache in a file, where memory does not hold the samples") {
  PricedMachine machine{.prices = {{"decode.cifar", {500 * kMicro}},
                                   {"augment.random_crop", {100 * kMicro}},
                                   {"cache.disk", {12 * kMicro}}},
                        .memory_bytes = 1e4};
  check_gains("cache_disk", file_of(kCifar + kCrop), machine, kScratch);
  machine.prices["cache.disk"] = {600 * kMicro};
  check_refused("cache_disk", file_of(kCifar + kCrop), machine, kScratch);
}

TEST_CASE("catalogue: the data set written once") {
  PricedMachine machine{.prices = {{"decode.cifar", {500 * kMicro}},
                                   {"augment.random_crop", {100 * kMicro}},
                                   {"cache.disk", {700 * kMicro}},
                                   {"read.shards", {2 * kMicro}}},
                        .memory_bytes = 1e4};
  check_gains("prepare", file_of(kCifar + kCrop), machine, kScratch);
  machine.prices["read.shards"] = {700 * kMicro};
  check_refused("prepare", file_of(kCifar + kCrop), machine, kScratch);
}

TEST_CASE("catalogue: workers") {
  PricedMachine machine{.prices = {{"augment.random_erasing", {500 * kMicro}}}, .cores = 4};
  const std::string stages = kCifar + R"(, {"use": "augment.random_erasing"})";
  check_gains("workers", file_of(stages, 1), machine);
  machine.prices["augment.random_erasing"].kind = CostKind::memory;
  const auto trials = trials_of("workers", file_of(stages, 2), machine, {});
  CHECK(std::ranges::none_of(trials, &tune::Trial::kept));
}

TEST_CASE("catalogue: a longer queue, where some samples take far longer") {
  const std::string file = file_of(kCifar + R"(, {"use": "augment.random_erasing"})");
  PricedMachine machine{.prices = {{"augment.random_erasing", {200 * kMicro}}}};
  machine.prices["augment.random_erasing"].factor = test::rarely(64, 40);
  check_gains("longer_queue", file, machine, {}, false);
  // The step is so fast that the queue never fills.
  machine.prices["augment.random_erasing"].factor = test::rarely(1000, 900);
  machine.step = [](std::int64_t, const std::string&) { return 2e-4; };
  check_refused("longer_queue", file, machine);
  machine.prices["augment.random_erasing"].factor = nullptr;
  check_left_out("longer_queue", file, machine);
}

TEST_CASE("catalogue: a crop that runs earlier") {
  const std::string file = file_of(kCifar + R"(, {"use": "augment.color_jitter", "hue": 0.1},
                    {"use": "augment.random_crop", "size": 16})");
  PricedMachine machine{.prices = {{"augment.color_jitter", {1000 * kMicro}},
                                   {"augment.random_crop", {50 * kMicro}},
                                   {"device.color_jitter", {1000 * kMicro}}}};
  check_gains("order", file, machine);
  machine.prices = {{"augment.color_jitter", {kMicro}}, {"augment.random_crop", {1000 * kMicro}}};
  check_left_out("order", file, machine);
}

TEST_CASE("catalogue: no more is decoded than the crop keeps") {
  const std::string file = file_of(
      R"({"use": "read.image_folder", "path": "/data"}, {"use": "decode.image"},
         {"use": "augment.random_resized_crop", "size": 16, "scale": [0.1, 0.5]})");
  PricedMachine machine{.prices = {{"decode.image", {1000 * kMicro}},
                                   {"augment.random_resized_crop", {100 * kMicro}},
                                   {"cache.memory", {2000 * kMicro}},
                                   {"decode.random_resized_crop", {750 * kMicro}}}};
  check_gains("decode_crop", file, machine);
  machine.prices["decode.random_resized_crop"] = {1150 * kMicro};  // As PNG.
  check_refused("decode_crop", file, machine);
}

TEST_CASE("catalogue: JPEG decoded at half its size, where it may change training") {
  const std::string file = file_of(
      R"({"use": "read.image_folder", "path": "/data"}, {"use": "decode.image"},
         {"use": "augment.random_crop", "size": 15})");
  PricedMachine machine{.prices = {{"decode.image", {1000 * kMicro}},
                                   {"decode.image, half", {750 * kMicro}},
                                   {"cache.memory", {2000 * kMicro}}}};
  check_gains("partial_decode", file, machine, kSemantic);
  check_left_out("partial_decode", file, machine);
  machine.prices["decode.image, half"] = {1000 * kMicro};
  check_refused("partial_decode", file, machine, kSemantic);
}

TEST_CASE("a remedy that gains is tried, however many others are proposed before it") {
  const std::string file = file_of(
      R"({"use": "read.image_folder", "path": "/data"}, {"use": "decode.image"},
         {"use": "augment.random_resized_crop", "size": 16, "scale": [0.1, 0.5]})",
      1);
  const PricedMachine machine{.prices = {{"decode.image", {1000 * kMicro}},
                                         {"augment.random_resized_crop", {100 * kMicro}},
                                         {"cache.memory", {2000 * kMicro}},
                                         {"decode.random_resized_crop", {750 * kMicro}}},
                              .memory_bytes = 1.05e8};
  PricedPipeline pipeline(file, machine);
  const Report report = pipeline.diagnose(25);
  const auto found = std::ranges::find(report.remedies, "decode_crop", &Remedy::id);
  CHECK(found - report.remedies.begin() >= static_cast<std::ptrdiff_t>(kMostShownRemedies));
  check_gains("decode_crop", file, machine);
}

TEST_CASE("catalogue: a copy ahead of the step") {
  const std::string file = file_of(kCifar + kFloats, 2, R"(, "prefetch": 0)");
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}}, .copy_bytes_per_second = 1e8};
  check_gains("overlap_copy", file, machine);
  machine.step = [](std::int64_t, const std::string&) { return kMicro; };
  const auto trials = trials_of("overlap_copy", file, machine, {});
  CHECK(std::ranges::none_of(trials, &tune::Trial::kept));
}

TEST_CASE("catalogue: element-wise work on the device") {
  PricedMachine machine{.prices = {{"augment.normalize", {500 * kMicro}},
                                   {"cache.memory", {2000 * kMicro}},
                                   {"device.normalize", {kMicro}}}};
  check_gains("to_device", file_of(kCifar + kCrop + kFloats), machine);
  machine.prices["device.normalize"] = {500 * kMicro};
  check_refused("to_device", file_of(kCifar + kCrop + kFloats), machine);
}

TEST_CASE("catalogue: flips, crops and changes of colour on the device") {
  const std::string crop = R"(, {"use": "augment.random_crop", "size": 24})";
  const std::string file = file_of(kCifar + R"(, {"use": "augment.color_jitter", "hue": 0.1},
                            {"use": "augment.horizontal_flip"})" +
                                   crop);
  const PricedMachine machine{.prices = {{"augment.color_jitter", {500 * kMicro}},
                                         {"augment.horizontal_flip", {20 * kMicro}},
                                         {"augment.random_crop", {20 * kMicro}},
                                         {"device.color_jitter", {3 * kMicro}},
                                         {"device.random_crop", {kMicro}}}};
  check_gains("to_device", file, machine);
  PricedMachine slow = machine;
  slow.prices["device.color_jitter"] = {600 * kMicro};
  check_refused("to_device", file, slow);
  // Whole images in place of their crops are too much for this copy.
  PricedMachine narrow = machine;
  narrow.prices["augment.color_jitter"] = {};
  narrow.prices["augment.random_crop"] = {40 * kMicro};
  narrow.copy_bytes_per_second = 3e7;
  check_left_out("to_device", file_of(kCifar + crop), narrow);
}

TEST_CASE("catalogue: bytes, and no floats, in the copy") {
  PricedMachine machine{
      .prices = {{"augment.normalize", {10 * kMicro}}, {"device.normalize", {kMicro}}},
      .copy_bytes_per_second = 4e7};
  check_gains("ship_bytes", file_of(kCifar + kFloats), machine);
  machine.prices["device.normalize"] = {400 * kMicro};
  check_refused("ship_bytes", file_of(kCifar + kFloats), machine);
}

TEST_CASE("catalogue: whole numbers in fewer bytes in the copy") {
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}},
                        .copy_bytes_per_second = 4e7,
                        .mask_type = "int64",
                        .mask_values = {.name = "mask", .low = 0, .high = 200}};
  check_gains("narrow", file_of(kCifar), machine);
  machine.prices["augment.narrow"] = {900 * kMicro};
  check_refused("narrow", file_of(kCifar), machine);
  machine.mask_values.high = 1e12;
  check_left_out("narrow", file_of(kCifar), machine);
  machine.mask_values = {.name = "mask", .low = 0, .high = 1, .whole = false};
  check_left_out("narrow", file_of(kCifar), machine);
}

TEST_CASE("catalogue: fields that the step does not read, left out of the copy") {
  PricedMachine machine{
      .prices = {{"decode.cifar", {10 * kMicro}}},
      .copy_bytes_per_second = 4e7,
      .mask_type = "int64",
      .mask_values = {.name = "mask", .low = 0.5, .whole = false, .unused = true}};
  check_gains("unused", file_of(kCifar), machine);
  machine.prices["augment.drop"] = {900 * kMicro};
  check_refused("unused", file_of(kCifar), machine);
  machine.mask_values.unused = false;
  check_left_out("unused", file_of(kCifar), machine);
}

TEST_CASE("catalogue: what is mostly zeros as positions and values in the copy") {
  PricedMachine machine{
      .prices = {{"decode.cifar", {10 * kMicro}}},
      .copy_bytes_per_second = 4e7,
      .mask_type = "float64",
      .mask_values = {.name = "mask", .high = 0.5, .nonzero = 90, .whole = false}};
  check_gains("sparse", file_of(kCifar), machine);
  machine.prices["augment.pack_nonzeros"] = {900 * kMicro};
  check_refused("sparse", file_of(kCifar), machine);
  machine.mask_values.nonzero = 500;  // A position for each takes what their zeros would.
  check_left_out("sparse", file_of(kCifar), machine);
}

TEST_CASE("catalogue: masks as bits in the copy") {
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}},
                        .copy_bytes_per_second = 2e7,
                        .mask_type = "uint8",
                        .mask_values = {.name = "mask", .low = 0, .high = 1}};
  check_gains("narrow", file_of(kCifar), machine);
  machine.prices["augment.pack_bits"] = {900 * kMicro};
  check_refused("narrow", file_of(kCifar), machine);
  machine.mask_values.high = 2;
  check_left_out("narrow", file_of(kCifar), machine);
}

TEST_CASE("catalogue: batches of samples of similar size, where it may change training") {
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}, {"device.pad", {900 * kMicro}}},
                        .copy_bytes_per_second = 2e7,
                        .padding = 0.4,
                        .grouped_predicted = 0.65,
                        .grouped = 0.65};
  check_gains("bucket", file_of(kCifar), machine, kSemantic);
  check_left_out("bucket", file_of(kCifar), machine);
  machine.grouped = 1;  // What is stored says nothing of the other samples' sizes.
  check_refused("bucket", file_of(kCifar), machine, kSemantic);
  machine.grouped_predicted = 1;
  check_left_out("bucket", file_of(kCifar), machine, kSemantic);
}

TEST_CASE("catalogue: samples end to end in the copy, padded on the device") {
  PricedMachine machine{
      .prices = {{"decode.cifar", {10 * kMicro}}}, .copy_bytes_per_second = 2e7, .padding = 0.4};
  check_gains("ragged", file_of(kCifar), machine);
  machine.prices["device.pad"] = {900 * kMicro};
  check_refused("ragged", file_of(kCifar), machine);
  machine.padding = 0.01;
  check_left_out("ragged", file_of(kCifar), machine);
}

TEST_CASE("catalogue: floats in 16 bits in the copy") {
  const std::string file =
      file_of(kCifar + kFloats, 2, "", R"("model": "lenet", "precision": "bf16-mixed")");
  PricedMachine machine{.prices = {{"augment.normalize", {10 * kMicro}},
                                   {"device.normalize", {900 * kMicro}},
                                   {"augment.cast", {4 * kMicro}}},
                        .copy_bytes_per_second = 4e7};
  check_gains("half", file, machine, kSemantic);
  machine.prices["augment.cast"] = {900 * kMicro};
  check_refused("half", file, machine, kSemantic);
}

TEST_CASE("catalogue: labels as numbers in the copy") {
  const std::string file =
      file_of(kCifar + R"(, {"use": "augment.one_hot", "classes": 3000, "fields": ["label"]})");
  PricedMachine machine{.prices = {{"augment.one_hot", {5 * kMicro}}, {"device.one_hot", {kMicro}}},
                        .copy_bytes_per_second = 4e7};
  check_gains("to_device", file, machine);
  machine.prices["device.one_hot"] = {500 * kMicro};
  check_refused("to_device", file, machine);
}

TEST_CASE("catalogue: a larger batch, where it may change training") {
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}}};
  const std::string file = file_of(kCifar);
  check_gains("batch_size", file, machine, kSemantic, false);
  check_left_out("batch_size", file, machine);
  machine.step = [](std::int64_t batch, const std::string&) {
    return 125 * kMicro * static_cast<double>(batch);
  };
  check_refused("batch_size", file, machine, kSemantic);
}

TEST_CASE("catalogue: a step in 16 bits, where it may change training") {
  PricedMachine machine{.prices = {{"decode.cifar", {10 * kMicro}}}};
  double faster = 2;
  machine.step = [&faster](std::int64_t batch, const std::string& precision) {
    return 125 * kMicro * static_cast<double>(batch) / (precision == "bf16-mixed" ? faster : 1);
  };
  const std::string file = file_of(kCifar);
  check_gains("precision", file, machine, kSemantic, false);
  check_left_out("precision", file, machine);
  faster = 1;
  check_refused("precision", file, machine, kSemantic);
}
