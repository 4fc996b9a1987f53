// A plugin: one sample stage, `example.solarize`, and one training step, `example.mean`.
//
//   cachebisect --plugin libstage_plugin.so --pipeline solarize.json
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <cachebisect/pipeline/plugin.hpp>
#include <cachebisect/train/train_step.hpp>

namespace {

using namespace cachebisect;

/// Inverts every byte at or above the threshold, as PIL's ImageOps.solarize does.
class Solarize final : public SampleStage {
 public:
  explicit Solarize(const Params& params)
      : field_(params.strings("fields").front()),
        threshold_(static_cast<std::uint8_t>(params.integer("threshold"))) {}

  SampleSpec infer(const SampleSpec& input) override {
    const FieldSpec* field = find_field(input, field_);
    if (field == nullptr || field->dtype != DType::uint8) {
      throw Error(ErrorKind::usage,
                  "needs a uint8 field \"" + field_ + "\"; put it before to_float");
    }
    return input;
  }

  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    const Field& from = input.field(field_);
    const auto bytes = from.as<std::uint8_t>();
    const auto to = out.field(field_).resize_as<std::uint8_t>(from.shape());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      to[i] = bytes[i] < threshold_ ? bytes[i] : static_cast<std::uint8_t>(255 - bytes[i]);
    }
  }

 private:
  std::string field_;
  std::uint8_t threshold_;
};

/// Does not train: reads all bytes; its loss is their mean.
class MeanStep final : public TrainStep {
 public:
  std::string name() const override { return "example.mean"; }
  std::vector<ExpectedField> expects() const override {
    return {{.name = "image", .dtypes = {DType::uint8}, .layout = ""}};
  }
  void step(const DeviceBatch& batch, const StepContext& /*context*/) override {
    const TensorView& images = batch.tensor("image");
    double sum = 0;
    for (std::size_t i = 0; i < images.byte_size(); ++i) sum += static_cast<double>(images.data[i]);
    mean_ = sum / static_cast<double>(images.byte_size());
  }
  std::optional<double> loss() override { return mean_; }

 private:
  std::optional<double> mean_;
};

void register_example(Registry& registry) {
  StageType solarize;
  solarize.type = "example.solarize";
  solarize.doc = "Inverts all bytes at or above a threshold";
  solarize.kind = StageKind::sample;
  solarize.params = {{.name = "threshold",
                      .type = ParamType::integer,
                      .doc = "first byte value that is inverted",
                      .default_value = std::int64_t{128},
                      .minimum = 0,
                      .maximum = 255}};
  solarize.example = R"({"threshold": 100})";
  solarize.make = [](const Params& params) { return std::make_unique<Solarize>(params); };
  registry.add(std::move(solarize));

  TrainStepType mean;
  mean.type = "example.mean";
  mean.doc = "Reads every byte of the batch, on the cpu";
  mean.make = [](const Params&) { return std::make_shared<MeanStep>(); };
  registry.add(std::move(mean));
}

}  // namespace

CACHEBISECT_PLUGIN(register_example)
