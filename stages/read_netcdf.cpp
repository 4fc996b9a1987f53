// read.netcdf: items or windows of a variable in a NetCDF file.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/label_numbers.hpp"
#include "stages/datasets/netcdf_array.hpp"
#include "stages/datasets/window_grid.hpp"
#include "stages/support/window_params.hpp"

#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMostNetcdfSampleBytes = std::uint64_t{1} << 30U;

ArrayBox all_of(const Shape& shape) {
  ArrayBox box{shape, shape};
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) box.begin[axis] = 0;
  return box;
}

std::vector<std::int64_t> read_netcdf_labels(const std::string& file, const std::string& name,
                                             const WindowGrid& grid) {
  const std::unique_ptr<NetcdfArray> array = open_netcdf(file, name, 0);
  const NetcdfArray::Facts& facts = array->facts();
  const NetcdfValues values(facts.type, facts.attributes, false);
  const DType dtype = values.dtype().value_or(DType::float64);
  try {
    const std::uint64_t items = grid.size() / grid.windows_per_item();
    check_labels(dtype, facts.shape, grid.has_items() ? items : grid.size(), grid.size());
  } catch (const Error& error) {
    throw error.with_context(file + ": the variable \"" + name + "\"");
  }
  const auto count = static_cast<std::size_t>(facts.shape[0]);
  std::vector<std::byte> stored(count * stored_bytes(facts.type));
  array->read(all_of(facts.shape), stored.data());
  std::vector<std::byte> bytes(count * size_of(dtype));
  values.convert(stored, bytes.data());
  std::vector<std::int64_t> labels;
  labels.reserve(count);
  append_labels(dtype, bytes, labels);
  return labels;
}

class NetcdfSource final : public SourceStage {
 public:
  explicit NetcdfSource(const Params& params)
      : path_(params.string("path")),
        name_(params.string("variable")),
        labels_(params.string("labels")),
        extents_(window_extents(params)),
        unpack_(params.boolean("unpack")),
        cache_bytes_(static_cast<std::size_t>(params.number("chunk_cache_mb") * 1e6)) {}

  [[nodiscard]] SampleSpec infer() override {
    array_ = open_netcdf(path_, name_, cache_bytes_);
    const NetcdfArray::Facts& facts = array_->facts();
    values_.emplace(facts.type, facts.attributes, unpack_);
    const std::optional<DType> dtype = values_->dtype();
    if (!dtype) {
      throw Error(ErrorKind::data, variable() +
                                       " has elements of uint64, which no tensor has: "
                                       "write it as int64");
    }
    dtype_ = *dtype;
    grid_.emplace(facts.shape, extents_.window, extents_.step);
    const Shape shape = grid_->sample_shape();
    if (static_cast<std::uint64_t>(shape.elements()) > kMostNetcdfSampleBytes / sizeof(double)) {
      throw Error(ErrorKind::usage, variable() + ": a sample would be " + shape.to_string() +
                                        ", more than 128 Mi elements; give a smaller \"window\"");
    }
    SampleSpec spec{{"image", dtype_, shape}};
    if (!labels_.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override {
    if (!labels_.empty()) numbers_ = read_netcdf_labels(path_, labels_, *grid_);
  }

  [[nodiscard]] std::uint64_t size() const override { return grid_ ? grid_->size() : 0; }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    require_sample(index, size());
    out.set_origin(path_);
    const Shape shape = grid_->sample_shape();
    const TensorView image = out.field("image").resize(dtype_, shape);
    const std::size_t bytes =
        static_cast<std::size_t>(shape.elements()) * stored_bytes(array_->facts().type);
    // In place where the sizes are equal.
    const bool in_place = stored_bytes(array_->facts().type) == size_of(dtype_);
    std::byte* const stored = in_place ? image.data : context.arena().take(bytes).data();
    context.add_serial_seconds(array_->read(grid_->box(index), stored));
    if (!values_->are_stored()) values_->convert({stored, bytes}, image.data);
    if (numbers_.empty()) return;
    const bool per_sample = numbers_.size() == size();
    out.field("label").set(numbers_[per_sample ? index : index / grid_->windows_per_item()]);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return array_->files(grid_->box(index.value));
  }

 private:
  [[nodiscard]] std::string variable() const { return path_ + ": the variable \"" + name_ + "\""; }

  std::string path_;
  std::string name_;
  std::string labels_;
  WindowExtents extents_;
  bool unpack_;
  std::size_t cache_bytes_;
  std::unique_ptr<const NetcdfArray> array_;
  std::optional<NetcdfValues> values_;
  std::optional<WindowGrid> grid_;
  DType dtype_ = DType::uint8;
  std::vector<std::int64_t> numbers_;
};

}  // namespace

void register_read_netcdf(Registry& registry) {
  registry.add(
      {.type = "read.netcdf",
       .doc = "Items or windows of a variable in a NetCDF file (classic formats and NetCDF-4), "
              "unpacked: array, label. libhdf5 reads one at a time of NetCDF-4",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params = {{.name = "path", .type = ParamType::path, .doc = "the file"},
                  {.name = "variable",
                   .type = ParamType::string,
                   .doc = "name of the variable; in a group of NetCDF-4 with it: forecast/t2m"},
                  window_param(),
                  step_param(),
                  {.name = "unpack",
                   .type = ParamType::boolean,
                   .doc = "apply `scale_factor` and `add_offset`, and turn missing values into NaN "
                          "where values are floating point; false: the numbers as stored",
                   .default_value = true},
                  {.name = "labels",
                   .type = ParamType::string,
                   .doc = "name of a variable in the same file with a whole number for each item, "
                          "or for each sample; empty: samples have none",
                   .default_value = ""},
                  {.name = "chunk_cache_mb",
                   .type = ParamType::number,
                   .doc = "MB of decoded chunks of NetCDF-4 that libhdf5 keeps for all workers "
                          "together",
                   .default_value = 16.0,
                   .minimum = 0,
                   .maximum = 1e6}},
       .example = R"({"path": "${cache}/era5.nc", "variable": "t2m", "window": [64, 64]})",
       .make = [](const Params& params) { return std::make_unique<NetcdfSource>(params); }});
}

}  // namespace cachebisect::stages
