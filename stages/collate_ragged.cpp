// collate.ragged: samples of different sizes end to end in one batch, without padding.
#include <cstring>

#include "stages/support/largest_shape.hpp"
#include "stages/support/layout_param.hpp"

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

namespace cachebisect::stages {
namespace {

/// Fields of static shapes are stacked. Of others, each sample is dense in the layout of the batch.
class RaggedCollate final : public CollateStage {
 public:
  explicit RaggedCollate(BatchLayout layout) : stack_(layout) {}

  BatchSpec infer(const SampleSpec& input, std::int64_t batch_size) override {
    input_ = input;
    BatchSpec output = stack_.infer(input, batch_size);
    for (FieldSpec& field : output) {
      if (!field.shape.is_static()) field.shape = {batch_size, kDynamic};
    }
    return output;
  }

  TensorView row(const FieldSpec& batch_field, std::byte* base, std::int64_t row) const override {
    return stack_.row(batch_field, base, row);
  }

  void gather(std::span<const Sample> samples, OwnedHostBatch& out) const override {
    for (std::size_t i = 0; i < input_.size() && !samples.empty(); ++i) {
      if (input_[i].shape.is_static()) {
        stack_.gather_field(i, samples, out);
      } else {
        gather_ragged(i, samples, out);
      }
    }
    out.batch.padding_share = 0;
  }

 private:
  void gather_ragged(std::size_t i, std::span<const Sample> samples, OwnedHostBatch& out) const {
    const std::string& name = input_[i].name;
    require_one_kind(name, samples);
    std::int64_t values = 0;
    for (const Sample& sample : samples) values += sample.field(name).shape().elements();
    const auto count = static_cast<std::int64_t>(samples.size());
    const DType dtype = samples.front().field(name).dtype();
    const TensorView batch =
        out.resize_field(i, name, dtype, Shape{count, (values + count - 1) / count});
    std::byte* place = batch.data;
    for (const Sample& sample : samples) {
      place = append(sample.field(name), place, out.batch.fields[i].sample_shapes);
    }
    std::memset(place, 0, static_cast<std::size_t>(batch.data + batch.byte_size() - place));
  }

  /// Returns the end of the sample.
  std::byte* append(const Field& field, std::byte* place, std::vector<Shape>& shapes) const {
    const Shape alone = stack_.batch_shape(field.shape(), 1);
    const TensorView target = stack_.row({{}, field.dtype(), alone}, place, 0);
    copy_tensor(field.view(), target);
    shapes.emplace_back(alone.dims().subspan(1));
    return place + target.byte_size();
  }

  StackCollate stack_;
  SampleSpec input_;
};

}  // namespace

void register_collate_ragged(Registry& registry) {
  registry.add(
      {.type = "collate.ragged",
       .doc = "Batches samples of different sizes end to end, without padding, so that the "
              "copy is of nothing else. device.pad makes of it what collate.pad gives",
       .kind = StageKind::collate,
       .params = {layout_param("layout of images in the batch", "NCHW")},
       .example = R"({"layout": "NCHW"})",
       .make = [](const Params& params) -> std::unique_ptr<Stage> {
         return std::make_unique<RaggedCollate>(parse_batch_layout(params.string("layout")));
       }});
}

}  // namespace cachebisect::stages
