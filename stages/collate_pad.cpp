// collate.pad: samples of different sizes in one batch, padded with zeros to the largest.
#include <algorithm>
#include <cstring>

#include "stages/support/largest_shape.hpp"
#include "stages/support/layout_param.hpp"

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

namespace cachebisect::stages {
namespace {

class PadCollate final : public CollateStage {
 public:
  explicit PadCollate(BatchLayout layout) : stack_(layout) {}

  BatchSpec infer(const SampleSpec& input, std::int64_t batch_size) override {
    input_ = input;
    return stack_.infer(input, batch_size);
  }

  TensorView row(const FieldSpec& batch_field, std::byte* base, std::int64_t row) const override {
    return stack_.row(batch_field, base, row);
  }

  void gather(std::span<const Sample> samples, OwnedHostBatch& out) const override {
    std::size_t bytes = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < input_.size() && !samples.empty(); ++i) {
      bytes += gather_field(i, samples, out);
      for (const Sample& sample : samples) used += sample.field(input_[i].name).byte_size();
    }
    out.batch.padding_share =
        bytes == 0 ? 0 : static_cast<double>(bytes - used) / static_cast<double>(bytes);
  }

 private:
  std::size_t gather_field(std::size_t i, std::span<const Sample> samples,
                           OwnedHostBatch& out) const {
    const std::string& name = input_[i].name;
    const Shape largest = largest_shape(name, samples);
    const FieldSpec field{name, samples.front().field(name).dtype(),
                          stack_.batch_shape(largest, static_cast<std::int64_t>(samples.size()))};
    const TensorView& tensor = out.resize_field(i, name, field.dtype, field.shape);
    const std::size_t bytes = tensor.byte_size();
    const bool padded = std::ranges::any_of(
        samples, [&](const Sample& sample) { return !(sample.field(name).shape() == largest); });
    if (padded) std::memset(tensor.data, 0, bytes);
    for (std::size_t r = 0; r < samples.size(); ++r) {
      TensorView place = stack_.row(field, tensor.data, static_cast<std::int64_t>(r));
      place.shape = samples[r].field(name).shape();
      copy_tensor(samples[r].field(name).view(), place);
    }
    return bytes;
  }

  StackCollate stack_;
  SampleSpec input_;
};

}  // namespace

void register_collate_pad(Registry& registry) {
  registry.add({.type = "collate.pad",
                .doc =
                    "Batches samples of different sizes, padded with zeros to the largest of the "
                    "batch; `group_by_size` of the pipeline makes that less",
                .kind = StageKind::collate,
                .params = {layout_param("layout of images in the batch", "NCHW")},
                .example = R"({"layout": "NCHW"})",
                .make = [](const Params& params) -> std::unique_ptr<Stage> {
                  return std::make_unique<PadCollate>(parse_batch_layout(params.string("layout")));
                }});
}

}  // namespace cachebisect::stages
