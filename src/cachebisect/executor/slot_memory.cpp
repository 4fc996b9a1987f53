#include "cachebisect/executor/slot_memory.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

double bytes_of(const FieldSpec& field) {
  if (!field.shape.is_static()) return 0;
  return static_cast<double>(field.shape.elements()) * static_cast<double>(size_of(field.dtype));
}

double bytes_of_made(const ChainStage& stage, const BatchSpec& input) {
  double bytes = 0;
  for (const FieldSpec& field : stage.output) {
    if (makes_field(stage, field, input)) bytes += bytes_of(field);
  }
  return bytes;
}

}  // namespace

bool makes_field(const ChainStage& stage, const FieldSpec& field, const BatchSpec& input) {
  const FieldSpec* const before = find_field(input, field.name);
  return before == nullptr || !(*before == field) ||
         std::find(stage.fields.begin(), stage.fields.end(), field.name) != stage.fields.end();
}

double batch_bytes_per_sample(const Pipeline& pipeline, std::size_t stage) {
  return bytes_of_made(pipeline.stages()[stage], {}) / static_cast<double>(pipeline.batch_size());
}

double changed_bytes_per_sample(const Pipeline& pipeline, std::size_t stage) {
  const auto& stages = pipeline.stages();
  return bytes_of_made(stages[stage], stages[stage - 1].output) /
         static_cast<double>(pipeline.batch_size());
}

double slot_bytes_per_sample(const Pipeline& pipeline) {
  if (!pipeline.static_shapes()) return 0;
  double bytes = batch_bytes_per_sample(pipeline, pipeline.collate_position());
  for (std::size_t i = pipeline.collate_position() + 1; i < pipeline.copy_position(); ++i) {
    bytes += changed_bytes_per_sample(pipeline, i);
  }
  return bytes;
}

void check_slot_memory(const SlotNeeds& needs, double available_bytes) {
  const auto slots = static_cast<double>(needs.slots);
  const auto batch = static_cast<double>(needs.batch_size);
  const double wanted = slots * batch * needs.bytes_per_sample;
  if (available_bytes <= 0 || wanted <= available_bytes) return;
  const double fitting = std::floor(available_bytes / (slots * needs.bytes_per_sample));
  throw Error(
      ErrorKind::usage,
      format_count(needs.slots) + " batch slots (workers + prefetch + 1) of " +
          format_count(static_cast<std::uint64_t>(needs.batch_size)) + " samples take " +
          format_bytes(wanted) + " (" + format_bytes(needs.bytes_per_sample) +
          " per sample), and " + format_bytes(available_bytes) + " of memory is available; lower " +
          (fitting >= 1 ? "batch_size to " + format_count(static_cast<std::uint64_t>(fitting)) +
                              " or less, or "
                        : "") +
          "workers or prefetch");
}

}  // namespace cachebisect
