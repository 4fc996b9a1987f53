#include <algorithm>

#include <nlohmann/json.hpp>

#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/file/context.hpp"
#include "cachebisect/pipeline/file/json_reader.hpp"
#include "cachebisect/pipeline/file/overrides.hpp"
#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/file/pipeline_write.hpp"
#include "cachebisect/pipeline/file/stages.hpp"
#include "cachebisect/pipeline/file/tables.hpp"
#include "cachebisect/pipeline/file/train.hpp"
#include "cachebisect/protocol/device_kind.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;
using spec::Context;

int parse_workers(const json& root, const Context& context) {
  const auto found = root.find("workers");
  if (found == root.end() || *found == "auto") return kAutoWorkers;
  if (!found->is_number()) {
    context.fail(SettingPath().at("workers"), "must be \"auto\" or " +
                                                  describe_accepted(spec::workers_param()) +
                                                  ", not " + spec::clipped(*found));
  }
  return static_cast<int>(
      spec::parse_params(root, {spec::workers_param()}, {}, context).integer("workers"));
}

std::string parse_device(const json& root, const Context& context) {
  const auto found = root.find("device");
  if (found == root.end()) return "auto";
  if (found->is_string() && parse_device_name(found->get_ref<const std::string&>()))
    return found->get<std::string>();
  context.fail(SettingPath().at("device"),
               "must be " + device_names() + ", not " + spec::clipped(*found));
}

// The terminal report prints the name, so it must be one printable line.
void check_title(const std::string& name, const Context& context) {
  constexpr std::size_t kMaxBytes = 100;
  const bool printable = std::ranges::none_of(
      name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!name.empty() && name.size() <= kMaxBytes && printable) return;
  context.fail(SettingPath().at("name"), "must be 1 to " + std::to_string(kMaxBytes) +
                                             " bytes without control characters, not " +
                                             quote(name));
}

void parse_top(PipelineSpec& out, const json& root, const Context& context) {
  const Params params = spec::parse_params(root, spec::top_params(), {}, context);
  out.name = params.string("name");
  check_title(out.name, context);
  out.seed = static_cast<std::uint64_t>(params.integer("seed"));
  out.batch_size = params.integer("batch_size");
  out.workers = parse_workers(root, context);
  out.prefetch = static_cast<int>(params.integer("prefetch"));
  out.shuffle = params.boolean("shuffle");
  out.drop_last = params.boolean("drop_last");
  out.group_by_size = static_cast<int>(params.integer(settings::kGroupBySize.key));
  out.loader = parse_loader_kind(params.string(settings::kLoader)).value();
  out.device = parse_device(root, context);
}

PipelineSpec parse_root(const json& root, const Registry& registry, const Context& context) {
  spec::check_keys(root, spec::top_keys(), {}, context);
  PipelineSpec out;
  parse_top(out, root, context);
  if (!root.contains("stages"))
    context.fail({}, "lacks \"stages\": the list of stages from read to copy");
  out.stages = spec::parse_stages(root["stages"], registry, context);
  if (const auto train = root.find("train"); train != root.end())
    out.train = spec::parse_train(*train, registry, context);
  if (const auto emulate = root.find("emulate"); emulate != root.end())
    spec::parse_emulate(*emulate, context, out);
  return out;
}

/// All paths of a spec are absolute.
Context context_of(const PipelineSpec& spec) {
  return {.origin = spec.name,
          .paths = {.base_folder = ".", .cache_folder = default_cache_folder()}};
}

/// A spec that was made from another one keeps the file that this came from.
PipelineSpec parse_changed(const json& root, const PipelineSpec& from, const Registry& registry,
                           const Context& context) {
  PipelineSpec changed = parse_root(root, registry, context);
  changed.file = from.file;
  changed.sha256 = from.sha256;
  return changed;
}

}  // namespace

PipelineSpec parse_pipeline(std::string_view text, const std::string& origin,
                            const Registry& registry, const SpecPaths& paths,
                            const std::vector<SpecOverride>& overrides) {
  json root = spec::read_json(text, origin);
  Context context{.origin = origin, .paths = paths};
  spec::apply_overrides(root, overrides, context);
  return parse_root(root, registry, context);
}

PipelineSpec change_pipeline(const PipelineSpec& spec, const Registry& registry,
                             const std::vector<SpecOverride>& overrides) {
  json root = spec::json_of(spec);
  Context context = context_of(spec);
  spec::apply_overrides(root, overrides, context);
  return parse_changed(root, spec, registry, context);
}

PipelineSpec patch_pipeline(const PipelineSpec& spec, const Registry& registry,
                            std::string_view patch) {
  const Context context = context_of(spec);
  if (is_nested_too_deep(patch)) throw Error(ErrorKind::usage, "the patch is nested too deep");
  try {
    const json changed = spec::json_of(spec).patch(json::parse(patch));
    return parse_changed(changed, spec, registry, context);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::usage,
                std::string("the patch does not fit the pipeline: ") + error.what());
  }
}

StageSpec parse_stage(std::string_view text, const StageType& type, const SpecPaths& paths) {
  const Context context{.origin = type.type, .paths = paths, .top = "the stage"};
  StageSpec stage = spec::parse_stage_object(spec::read_json(text, type.type), type, {}, context);
  if (stage.name.empty())
    stage.name = spec::stage_names(json::array({{{"use", type.type}}})).front();
  return stage;
}

}  // namespace cachebisect
