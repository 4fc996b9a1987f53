// The builder functions of stages.hpp. They go through the registry, so that the checks are those
// of a pipeline file.
#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/stages.hpp"

namespace cachebisect::stages {
namespace {

Registry built_in() {
  Registry registry;
  register_all(registry);
  return registry;
}

BuiltStage build(const StageType& type, Params params) {
  try {
    return {type.type, type.traits, type.make(complete_params(type.params, std::move(params)))};
  } catch (const Error& error) {
    throw error.with_context(type.type);
  }
}

BuiltStage build(std::string_view type, Params params) {
  const Registry registry = built_in();
  return build(registry.stage(type), std::move(params));
}

Params with_fields(const std::vector<std::string>& fields) {
  Params params;
  params.set("fields", fields);
  return params;
}

template <class Options>
Params with_size(const Options& options) {
  Params params = with_fields(options.fields);
  if (options.size != 0) params.set("size", options.size);
  if (options.height != 0) params.set("height", options.height);
  if (options.width != 0) params.set("width", options.width);
  return params;
}

template <class Options>
void set_filter(Params& params, const Options& options) {
  params.set("interpolation", options.interpolation);
  params.set("antialias", options.antialias);
}

std::vector<double> list(const std::array<double, 2>& range) { return {range[0], range[1]}; }

}  // namespace

BuiltStage make(std::string_view type, std::string_view params_json) {
  const Registry registry = built_in();
  const StageType& found = registry.stage(type);
  const SpecPaths paths{.base_folder = ".", .cache_folder = default_cache_folder()};
  return build(found, parse_stage(params_json, found, paths).params);
}

BuiltStage resize(const ResizeOptions& options) {
  Params params = with_size(options);
  if (options.shorter_side != 0) params.set("shorter_side", options.shorter_side);
  set_filter(params, options);
  return build("augment.resize", std::move(params));
}

BuiltStage center_crop(const CenterCropOptions& options) {
  return build("augment.center_crop", with_size(options));
}

BuiltStage random_crop(const RandomCropOptions& options) {
  Params params = with_size(options);
  params.set("padding", options.padding);
  return build("augment.random_crop", std::move(params));
}

BuiltStage random_resized_crop(const RandomResizedCropOptions& options) {
  Params params = with_size(options);
  params.set("scale", list(options.scale));
  params.set("ratio", list(options.ratio));
  set_filter(params, options);
  return build("augment.random_resized_crop", std::move(params));
}

BuiltStage horizontal_flip(const FlipOptions& options) {
  Params params = with_fields(options.fields);
  params.set("p", options.p);
  return build("augment.horizontal_flip", std::move(params));
}

BuiltStage vertical_flip(const FlipOptions& options) {
  Params params = with_fields(options.fields);
  params.set("p", options.p);
  return build("augment.vertical_flip", std::move(params));
}

BuiltStage color_jitter(const ColorJitterOptions& options) {
  Params params = with_fields(options.fields);
  params.set("brightness", options.brightness);
  params.set("contrast", options.contrast);
  params.set("saturation", options.saturation);
  params.set("hue", options.hue);
  return build("augment.color_jitter", std::move(params));
}

BuiltStage to_float(const FieldOptions& options) {
  return build("augment.to_float", with_fields(options.fields));
}

BuiltStage normalize(const NormalizeOptions& options) {
  Params params = with_fields(options.fields);
  params.set("mean", options.mean);
  params.set("std", options.std);
  return build("augment.normalize", std::move(params));
}

BuiltStage decode_image(const FieldOptions& options) {
  return build("decode.image", with_fields(options.fields));
}

}  // namespace cachebisect::stages
