#include "stages/datasets/window_labels.hpp"

#include <algorithm>

#include "stages/datasets/label_numbers.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

using LabelNumbers = std::vector<std::int64_t>;

LabelNumbers read_label_array(const LabelArray& array, const WindowGrid& grid,
                              const OpenContext& context) {
  LabelNumbers numbers;
  try {
    const std::uint64_t items = grid.size() / grid.windows_per_item();
    numbers.reserve(check_labels(array.dtype, array.shape, grid.has_items() ? items : grid.size(),
                                 grid.size()));
  } catch (const Error& error) {
    throw error.with_context(array.what);
  }
  std::vector<std::byte> bytes;
  for (std::int64_t first = 0; first < array.shape[0]; first += array.piece) {
    context.check_stop();
    const std::int64_t extent = std::min(array.piece, array.shape[0] - first);
    bytes.resize(static_cast<std::size_t>(extent) * size_of(array.dtype));
    array.read({Shape{first}, Shape{extent}}, bytes);
    append_labels(array.dtype, bytes, numbers);
  }
  return numbers;
}

}  // namespace

WindowLabels::WindowLabels(const std::function<LabelArray()>& open, const std::string& key,
                           const WindowGrid& grid, const OpenContext& context) {
  const auto read = [&] { return read_label_array(open(), grid, context); };
  const std::string whole_key =
      key + '\0' + std::to_string(grid.size()) + '\0' + std::to_string(grid.windows_per_item());
  numbers_ = context.shared ? context.shared->get<LabelNumbers>(whole_key, read)
                            : std::make_shared<const LabelNumbers>(read());
  if (numbers_->size() != grid.size()) samples_per_number_ = grid.windows_per_item();
}

}  // namespace cachebisect::stages
