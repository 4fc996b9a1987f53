#include "cachebisect/executor/batch_slot.hpp"

#include <cstring>

#include "cachebisect/executor/slot_memory.hpp"
#include "cachebisect/pipeline/in_stage.hpp"

namespace cachebisect {

namespace {

std::vector<RowLayout> layouts_of(const Pipeline& pipeline, const ChainStage& link) {
  const SampleSpec& input = pipeline.stages()[pipeline.collate_position() - 1].output;
  const std::int64_t last = pipeline.batch_size() - 1;
  std::vector<RowLayout> layouts;
  for (std::size_t i = 0; i < input.size(); ++i) {
    std::byte base{};
    RowLayout layout;
    layout.field = i;
    layout.sample = &input[i];
    layout.row_bytes =
        static_cast<std::size_t>(input[i].shape.elements()) * size_of(input[i].dtype);
    layout.first = pipeline.collate().row(link.output[i], &base, 0);
    const TensorView end = pipeline.collate().row(link.output[i], &base, last);
    const auto stride = end.data - layout.first.data;
    if (layout.first.data != &base || !(layout.first.shape == input[i].shape) ||
        stride != static_cast<std::ptrdiff_t>(layout.row_bytes) * last) {
      throw Error(ErrorKind::internal, "the rows of field '" + input[i].name +
                                           "' do not follow one another in the batch");
    }
    layout.dense = layout.first.is_dense();
    layouts.push_back(layout);
  }
  return layouts;
}

/// As make_room(); touched too, so that the sample path has no page faults.
void make_touched_room(OwnedHostBatch& batch, const ChainStage& stage, const BatchSpec& input) {
  make_room(batch, stage, input);
  for (const BatchField& field : batch.batch.fields) {
    const TensorView& tensor = field.tensor;
    if (tensor.data != nullptr) std::memset(tensor.data, 0, tensor.byte_size());
  }
}

}  // namespace

std::vector<RowLayout> row_layouts(const Pipeline& pipeline) {
  if (!pipeline.static_shapes()) return {};
  const ChainStage& link = pipeline.stages()[pipeline.collate_position()];
  return in_stage(link, [&] { return layouts_of(pipeline, link); });
}

BatchSlot::BatchSlot(const Pipeline& pipeline, const std::shared_ptr<MemoryResource>& memory)
    : rows_(memory),
      indices_(static_cast<std::size_t>(pipeline.batch_size())),
      first_output_(pipeline.collate_position() + 1) {
  const std::size_t batch_stages = pipeline.copy_position() - first_output_;
  outputs_.reserve(batch_stages);
  for (std::size_t i = 0; i < batch_stages; ++i) outputs_.emplace_back(memory);
  rows_.batch.indices.reserve(indices_.size());
  if (!pipeline.static_shapes()) {
    staged_.resize(indices_.size());
    return;
  }
  const auto& stages = pipeline.stages();
  make_touched_room(rows_, stages[first_output_ - 1], {});
  for (std::size_t i = 0; i < batch_stages; ++i) {
    make_touched_room(outputs_[i], stages[first_output_ + i], stages[first_output_ + i - 1].output);
  }
}

const HostBatch& BatchSlot::collate(const CollateStage& collate, std::int64_t size,
                                    std::uint64_t epoch) {
  const auto count = static_cast<std::size_t>(size);
  if (staged_.empty()) {
    for (BatchField& field : rows_.batch.fields) field.tensor.shape[0] = size;
  } else {
    collate.gather({staged_.data(), count}, rows_);
  }
  rows_.batch.size = size;
  rows_.batch.epoch = epoch;
  rows_.batch.indices.assign(indices_.begin(), indices_.begin() + size);
  return rows_.batch;
}

std::size_t BatchSlot::capacity() const noexcept {
  std::size_t bytes = rows_.capacity();
  for (const Sample& sample : staged_) {
    for (const Sample::NamedField& named : sample.fields()) bytes += named.field.capacity();
  }
  for (const OwnedHostBatch& output : outputs_) bytes += output.capacity();
  return bytes;
}

}  // namespace cachebisect
