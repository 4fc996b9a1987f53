#include "cachebisect/replay/host_collate.hpp"

namespace cachebisect {
namespace {

void stack_rows(const Pipeline& pipeline, std::span<const Sample> samples, OwnedHostBatch& out) {
  const CollateStage& collate = pipeline.collate();
  const BatchSpec& spec = pipeline.stages()[pipeline.collate_position()].output;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    Shape shape = spec[i].shape;
    shape[0] = static_cast<std::int64_t>(samples.size());
    const TensorView field = out.resize_field(i, spec[i].name, spec[i].dtype, shape);
    for (std::size_t row = 0; row < samples.size(); ++row) {
      copy_tensor(samples[row].field(spec[i].name).view(),
                  collate.row(spec[i], field.data, static_cast<std::int64_t>(row)));
    }
  }
}

}  // namespace

void collate_samples(const Pipeline& pipeline, std::span<const Sample> samples,
                     OwnedHostBatch& out) {
  if (pipeline.static_shapes()) {
    stack_rows(pipeline, samples, out);
  } else {
    pipeline.collate().gather(samples, out);
  }
  out.batch.size = static_cast<std::int64_t>(samples.size());
  out.batch.indices.clear();
  for (const Sample& sample : samples) out.batch.indices.push_back(sample.index());
}

void copy_host_batch(const HostBatch& from, OwnedHostBatch& to) {
  to.batch.size = from.size;
  to.batch.indices = from.indices;
  to.batch.padding_share = from.padding_share;
  for (std::size_t i = 0; i < from.fields.size(); ++i) {
    const BatchField& field = from.fields[i];
    copy_tensor(field.tensor,
                to.resize_field(i, field.name, field.tensor.dtype, field.tensor.shape));
  }
}

}  // namespace cachebisect
