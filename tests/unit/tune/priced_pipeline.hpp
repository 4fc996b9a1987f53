// A pipeline file whose stages have prices, in virtual time: what `tune` does to the file is run.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/all_stages.hpp"
#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/candidates.hpp"
#include "cachebisect/tune/subject.hpp"

namespace cachebisect::test {

/// What a stage costs: seconds per sample of a whole image. A crop leaves less to those behind it.
struct Price {
  double seconds = 0;
  CostKind kind = CostKind::cpu;
  std::function<double(std::uint64_t)> factor{};  ///< of a sample, as in SimulatedStage
};

struct PricedMachine {
  std::map<std::string, Price> prices;  ///< by `use`; others are free
  int cores = 2;
  double copy_bytes_per_second = 12e9;
  /// Seconds of a training step, by batch size and precision.
  std::function<double(std::int64_t, const std::string&)> step =
      [](std::int64_t, const std::string&) { return 1e-3; };
  double memory_bytes = 1e11;  ///< available
  /// Of a field "mask" of [32, 32, 1] besides the image: its type, and what it holds.
  std::string mask_type;
  FieldValues mask_values{};
  /// Of batches of collate.pad: the share that is padding, and what grouping by size leaves of
  /// their bytes: as the caches show it, and in fact.
  double padding = 0;
  double grouped_predicted = 1;
  double grouped = 1;
};

/// A whole image has 32 x 32 pixels.
class PricedPipeline final : public tune::Subject {
 public:
  using Json = nlohmann::json;

  PricedPipeline(const std::string& file, PricedMachine machine)
      : machine_(std::move(machine)), spec_(parse_pipeline(file, "test", all_stages(), {})) {}

  Report diagnose(double budget_seconds) override {
    const Planned now = planned(spec_);
    BisectOptions asked;
    asked.budget_seconds = budget_seconds;
    asked.explain = false;
    asked.what_ifs = tune::questions(describe(now.chain), machine_.cores);
    Measurements run = measure_chain(now.chain, asked);
    describe_file(run.chain, now);
    run.machine.memory_available_bytes = machine_.memory_bytes;
    if (!machine_.mask_type.empty()) run.cache.fields = {machine_.mask_values};
    if (machine_.padding > 0) {
      run.cache.grouped_bytes_share = machine_.grouped_predicted;
      for (BlockRecord& block : run.blocks) block.result.padding_share = machine_.padding;
    }
    return report_of(run);
  }
  /// The simulation knows no stages on the device.
  [[nodiscard]] bool diagnoses_again() const override { return false; }

  void make(tune::Trial& trial, double) override {
    trial.folder = "/scratch/" + trial.id;
    if (trial.written_after.empty()) return;
    const Json stages = stages_of(spec_);
    trial.edits.clear();
    for (const Json& stage : stages) {
      trial.edits.push_back({"/stages/0", "null", EditKind::remove});
      if (stage["name"] == trial.written_after) break;
    }
    trial.edits.push_back(
        {"/stages/0", R"({"use": "read.shards", "path": "/scratch"})", EditKind::insert});
  }
  bool discard(const tune::Trial&) override { return true; }

  tune::Comparison compare(const std::vector<Edit>& edits, double) override {
    const double gain =
        std::log(rate_of(planned(changed(edits)).chain) / rate_of(planned(spec_).chain));
    return {.gain = {.value = gain, .interval = Interval{gain - 0.01, gain + 0.01}}, .seconds = 3};
  }
  void keep(const std::vector<Edit>& edits) override { spec_ = changed(edits); }
  [[nodiscard]] std::string json() const override { return to_json(spec_); }

 private:
  struct Planned {
    SimulatedChain chain;
    std::vector<std::string> uses;  ///< of sample stages
    std::vector<double> bytes;      ///< behind them
    std::vector<std::string> fields;
  };

  /// What a sample is behind a stage.
  struct Image {
    double side = 32;
    double value_bytes = 1;
    double label_bytes = 8;
    double mask_bytes = 0;  ///< of a value
    bool ragged = false;    ///< images differ in height
    std::string mask{};     ///< its description
    [[nodiscard]] double pixels() const { return side * side; }
    [[nodiscard]] double bytes() const {
      return 3 * pixels() * value_bytes + label_bytes + mask_bytes * Image{}.pixels();
    }
    [[nodiscard]] std::string fields() const {
      const std::string text = std::to_string(std::lround(side));
      const std::string type = value_bytes == 4   ? "float32"
                               : value_bytes == 2 ? "bfloat16"
                                                  : "uint8";
      return "image " + type + " [" + (ragged ? "?" : text) + ", " + text + ", 3], label int64 []" +
             mask;
    }
  };

  [[nodiscard]] PipelineSpec changed(const std::vector<Edit>& edits) const {
    return patch_pipeline(spec_, all_stages(), json_patch(edits));
  }

  static Json stages_of(const PipelineSpec& spec) { return Json::parse(to_json(spec))["stages"]; }

  [[nodiscard]] Price price_of(const std::string& use) const {
    const auto found = machine_.prices.find(use);
    return found == machine_.prices.end() ? Price{} : found->second;
  }

  static void apply(const Json& stage, Image& image) {
    const std::string use = stage["use"];
    if (use == "augment.normalize" || use == "augment.to_float") image.value_bytes = 4;
    if (use == "augment.cast") image.value_bytes = 2;
    if (use == "read.image_folder") image.value_bytes = 0.1;
    if (use == "decode.image") image.value_bytes = 1;
    if (use == "augment.one_hot") image.label_bytes = 4 * stage["classes"].get<double>();
    if (use == "augment.drop") image.mask_bytes = 0;
    if (use == "augment.narrow") image.mask_bytes = 1;
    if (use == "augment.pack_bits") image.mask_bytes = 1.0 / 8;
    if (use == "augment.pack_nonzeros")
      image.mask_bytes *= stage["most"].get<double>() * 1.5 / Image{}.pixels();
    const bool crops = use == "augment.random_crop" || use.ends_with("random_resized_crop");
    if (crops) image.side = stage["size"].is_array() ? stage["size"][0] : stage["size"];
  }

  [[nodiscard]] Planned planned(const PipelineSpec& spec) const {
    const Json file = Json::parse(to_json(spec));
    Planned now;
    SimulatedChain& chain = now.chain;
    chain.workers = file["workers"];
    chain.ring_prefetch = file["prefetch"];
    chain.batch_size = file["batch_size"];
    chain.cores = machine_.cores;
    chain.copy_bytes_per_second = machine_.copy_bytes_per_second;
    chain.step_seconds =
        machine_.step(chain.batch_size, file["train"].value("precision", std::string("fp32")));
    Image image;
    image.ragged = machine_.padding > 0;
    double padding = machine_.padding;
    if (!machine_.mask_type.empty()) {
      image.mask_bytes = machine_.mask_type == "uint8" ? 1 : 8;
      image.mask = ", mask " + machine_.mask_type + " [32, 32, 1]";
    }
    for (const Json& stage : file["stages"]) {
      const std::string use = stage["use"];
      const bool half = use == "decode.image" && stage["scale"] == 2;
      const Price price = price_of(half ? "decode.image, half" : use);
      if (use.starts_with("copy.")) chain.copy_prefetch = stage.value("prefetch", 2);
      if (use.starts_with("device.")) {
        chain.step_seconds += price.seconds * static_cast<double>(chain.batch_size);
      }
      if (use == "collate.ragged") padding = 0;
      if (use.starts_with("collate.") || use.starts_with("copy.") || use.starts_with("device.")) {
        continue;
      }
      const double share = image.pixels() / Image{}.pixels();
      apply(stage, image);
      if (use.starts_with("cache.")) {
        const int reuse = stage.value("reuse", 0);
        const double made = reuse > 0 ? 1.0 / (1 + reuse) : 0;
        for (SimulatedStage& before : chain.stages) before.seconds *= made;
      }
      chain.stages.push_back({.name = stage["name"],
                              .category = category_of(use),
                              .kind = price.kind,
                              .seconds = share * price.seconds,
                              .factor = price.factor});
      now.uses.push_back(use);
      now.bytes.push_back(image.bytes());
      now.fields.push_back(image.fields());
    }
    chain.source_bytes = image.bytes() / (1 - padding);
    if (file["group_by_size"] > 0 && padding > 0) chain.source_bytes *= machine_.grouped;
    return now;
  }

  void describe_file(ChainDescription& chain, const Planned& now) const {
    chain.effective_json = to_json(spec_);
    chain.samples = 50'000;
    chain.train = "lenet, sgd, fp32";
    bool same = true;
    for (std::size_t s = 0; s < now.uses.size(); ++s) {
      StageDescription& stage = chain.stages[s];
      stage.type = now.uses[s];
      stage.output = now.fields[s];
      stage.output_bytes = now.bytes[s];
      stage.random =
          stage.type.find("random_") != std::string::npos || stage.type.ends_with("jitter");
      same = same && !stage.random;
      stage.cacheable = same;
    }
    for (StageDescription& stage : chain.stages) {
      if (machine_.padding > 0 && stage.category == Category::collate) stage.type = "collate.pad";
    }
  }

  PricedMachine machine_;
  PipelineSpec spec_;
};

}  // namespace cachebisect::test
