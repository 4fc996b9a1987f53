#include "cachebisect/replay/cache/grouped_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using Batch = std::span<const Sample* const>;

struct Sized {
  std::uint64_t bytes = 0;  ///< in storage
  const Sample* sample = nullptr;
};

/// Of one field of a batch whose samples are padded to the largest of them along each axis.
double padded_bytes(Batch batch, const std::string& name) {
  Shape largest = batch.front()->field(name).shape();
  for (const Sample* sample : batch) {
    const Shape& shape = sample->field(name).shape();
    for (std::size_t axis = 0; axis < largest.rank(); ++axis)
      largest[axis] = std::max(largest[axis], shape[axis]);
  }
  return static_cast<double>(largest.elements()) * static_cast<double>(batch.size()) *
         static_cast<double>(size_of(batch.front()->field(name).dtype()));
}

double padded_bytes(Batch samples, std::size_t batch_size) {
  double bytes = 0;
  for (std::size_t begin = 0; begin + batch_size <= samples.size(); begin += batch_size) {
    const Batch batch = samples.subspan(begin, batch_size);
    for (const Sample::NamedField& named : batch.front()->fields())
      bytes += padded_bytes(batch, named.name);
  }
  return bytes;
}

}  // namespace

std::optional<double> grouped_bytes_share(const Pipeline& pipeline,
                                          std::span<const Sample> samples) {
  const PipelineSpec& spec = pipeline.spec();
  const auto batch_size = static_cast<std::size_t>(pipeline.batch_size());
  const std::size_t whole = samples.size() / batch_size * batch_size;
  const bool pads = pipeline.stages()[pipeline.collate_position()].type == "collate.pad" &&
                    !pipeline.static_shapes();
  if (!pads || spec.group_by_size > 0 || !spec.shuffle || whole < 2 * batch_size)
    return std::nullopt;
  std::vector<Sized> sized;
  std::vector<const Sample*> order;
  for (const Sample& sample : samples.first(whole)) {
    sized.push_back({pipeline.source().stored_bytes(sample.index()), &sample});
    order.push_back(&sample);
  }
  const double now = padded_bytes(order, batch_size) / static_cast<double>(whole);
  if (sized.front().bytes == 0 || now <= 0) return std::nullopt;
  std::ranges::stable_sort(sized, {}, &Sized::bytes);
  // A window has more samples than the cache, or fewer, of the same distribution.
  const std::size_t window = batch_size * settings::kProposedGroup;
  order.resize(batch_size);
  double grouped = 0;
  for (std::size_t begin = 0; begin < window; begin += batch_size) {
    for (std::size_t i = 0; i < batch_size; ++i)
      order[i] = sized[(begin + i) * whole / window].sample;
    grouped += padded_bytes(order, batch_size);
  }
  return grouped / static_cast<double>(window) / now;
}

}  // namespace cachebisect
