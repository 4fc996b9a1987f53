#include "cachebisect/pipeline/pipeline.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cachebisect/pipeline/cache_origin.hpp"
#include "cachebisect/pipeline/callable_stages.hpp"
#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/chain_probe.hpp"
#include "cachebisect/pipeline/emulated_source.hpp"
#include "cachebisect/pipeline/in_stage.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

Params with_fields(const StageSpec& spec, const StageType& type) {
  Params params = spec.params;
  if (type.takes_fields() && !params.has("fields")) params.set("fields", spec.fields);
  return params;
}

ChainStage make_link(const StageSpec& spec, const StageType& type) {
  ChainStage link;
  link.name = spec.name;
  link.type = type.type;
  link.kind = type.kind;
  link.traits = type.traits;
  link.random_key = hash_name(spec.name);
  link.skip_damaged = spec.skip_damaged;
  const Params params = with_fields(spec, type);
  if (params.has("fields")) link.fields = params.strings("fields");
  link.stage = in_stage(link, [&] { return type.make(params); });
  if (!link.stage || link.stage->kind() != type.kind) {
    throw Error(ErrorKind::internal, describe(link) + ": make() did not return a stage of kind " +
                                         std::string(to_string(type.kind)) +
                                         ", as its type declares");
  }
  return link;
}

SampleSpec infer(const ChainStage& link, const SampleSpec& input, std::int64_t batch_size) {
  Stage& stage = *link.stage;
  switch (link.kind) {
    case StageKind::source:
      return static_cast<SourceStage&>(stage).infer();
    case StageKind::sample:
      return static_cast<SampleStage&>(stage).infer(input);
    case StageKind::collate:
      return static_cast<CollateStage&>(stage).infer(input, batch_size);
    case StageKind::batch:
      return static_cast<BatchStage&>(stage).infer(input);
    case StageKind::copy:
      return input;
    case StageKind::device:
      return static_cast<DeviceStage&>(stage).infer(input);
  }
  return {};
}

void check(const settings::Count& setting, std::int64_t value) {
  if (setting.allows(value)) return;
  throw Error(ErrorKind::usage, std::string(setting.key) + " is " + std::to_string(value) +
                                    "; it must be " + std::to_string(setting.min) + " to " +
                                    std::to_string(setting.max));
}

void check_numbers(const PipelineSpec& spec) {
  check(settings::kBatchSize, spec.batch_size);
  if (spec.workers != kAutoWorkers) check(settings::kWorkers, spec.workers);
  check(settings::kPrefetch, spec.prefetch);
  check(settings::kGroupBySize, spec.group_by_size);
}

void check_samples(const ChainStage& source, std::uint64_t samples, const PipelineSpec& spec) {
  if (samples == 0) throw Error(ErrorKind::data, describe(source) + ": there are no samples");
  if (spec.drop_last && samples < static_cast<std::uint64_t>(spec.batch_size)) {
    throw Error(ErrorKind::usage,
                "batch_size is " + std::to_string(spec.batch_size) + ", and " + describe(source) +
                    " has " + std::to_string(samples) +
                    " samples, so that drop_last would drop them all; set batch_size to at most " +
                    std::to_string(samples) + " or drop_last to false");
  }
}

void check_sizes(const ChainStage& link, const SourceStage& source, const PipelineSpec& spec) {
  if (spec.group_by_size == 0) return;
  if (!spec.shuffle) {
    throw Error(ErrorKind::usage,
                "group_by_size changes the order of samples, which \"shuffle\": false forbids; "
                "leave one of them out");
  }
  if (source.stored_bytes({0}) == 0) {
    throw Error(ErrorKind::usage, "group_by_size: " + describe(link) +
                                      " does not know the sizes of its samples; leave "
                                      "group_by_size out, or read local files");
  }
}

std::size_t position_of(const std::vector<ChainStage>& stages, StageKind kind) {
  const auto at = std::find_if(stages.begin(), stages.end(),
                               [&](const ChainStage& stage) { return stage.kind == kind; });
  return static_cast<std::size_t>(at - stages.begin());
}

bool is_callable(const ChainStage& link) {
  return dynamic_cast<const CallableStage*>(link.stage.get()) != nullptr;
}

}  // namespace

Pipeline Pipeline::from_spec(PipelineSpec spec, const Registry& registry, OpenContext opening) {
  Pipeline pipeline;
  for (StageSpec& stage : spec.stages) {
    if (stage.name.empty()) stage.name = default_stage_name(stage.use, pipeline.stages_);
    pipeline.stages_.push_back(make_link(stage, registry.stage(stage.use)));
  }
  pipeline.spec_ = std::move(spec);
  pipeline.whole_spec_ = true;
  pipeline.check_and_infer(std::move(opening));
  return pipeline;
}

void Pipeline::check_and_infer(OpenContext opening) {
  if (!opening.shared) opening.shared = std::make_shared<SharedObjects>();
  shared_ = opening.shared;
  check_numbers(spec_);
  check_order(stages_);
  emulate_storage();
  collate_ = position_of(stages_, StageKind::collate);
  copy_ = position_of(stages_, StageKind::copy);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!stages_[i].traits.caches) continue;
    static_cast<CacheStage&>(*stages_[i].stage).set_origin(cache_origin(spec_, stages_, i));
  }
  const bool learning = std::any_of(stages_.begin(), stages_.end(), is_callable);
  infer_specs(learning, opening);
  if (!learning) {
    for (ChainStage& link : stages_) in_stage(link, [&] { link.stage->open_with(opening); });
  }
  const std::uint64_t samples = in_stage(stages_.front(), [&] { return source().size(); });
  check_samples(stages_.front(), samples, spec_);
  in_stage(stages_.front(), [&] { check_sizes(stages_.front(), source(), spec_); });
}

void Pipeline::emulate_storage() {
  if (!spec_.emulated_storage) return;
  ChainStage& link = stages_.front();
  const Params& params = spec_.stages.front().params;
  if (params.has("in_memory") && params.boolean("in_memory")) {
    throw Error(ErrorKind::usage,
                "emulate.storage: " + describe(link) +
                    " holds all samples in memory, so that nothing is read from storage; leave out "
                    "\"in_memory\", or emulate.storage");
  }
  try {
    link.stage = std::make_shared<EmulatedSource>(std::static_pointer_cast<SourceStage>(link.stage),
                                                  *spec_.emulated_storage, spec_.seed);
  } catch (const Error& error) {
    throw error.with_context("emulate.storage");
  }
  link.traits.planted = false;  // It sleeps by the clock.
  link.traits.allocates = true;
}

void Pipeline::infer_specs(bool learning, const OpenContext& opening) {
  ChainStage& first = stages_.front();
  if (auto* const remote = dynamic_cast<RemoteSource*>(first.stage.get())) {
    in_stage(first, [&] { remote->look_up(opening); });
  }
  ChainProbe probe(spec_.seed, stages_);
  SampleSpec current;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    ChainStage& link = stages_[i];
    link.batched_output = i >= collate_;
    in_stage(link, [&] {
      if (!learning || i >= collate_) {
        link.output = infer(link, current, spec_.batch_size);
        if (learning) link.stage->open_with(opening);
        return;
      }
      // A callable's output is known only once it has run, and what runs must be open.
      auto* callable = dynamic_cast<CallableStage*>(link.stage.get());
      if (callable == nullptr) link.output = infer(link, current, spec_.batch_size);
      link.stage->open_with(opening);
      const std::span<const Sample> outputs = probe.advance(i);
      if (outputs.empty()) throw Error(ErrorKind::data, "there are no samples");
      if (callable != nullptr) {
        callable->learn(outputs);
        link.output = callable->infer(current);
      }
    });
    current = link.output;
  }
}

std::uint64_t Pipeline::samples() const { return source().size(); }

const SourceStage& Pipeline::source() const {
  return static_cast<const SourceStage&>(*stages_.front().stage);
}

const CollateStage& Pipeline::collate() const {
  return static_cast<const CollateStage&>(*stages_[collate_].stage);
}

CopyOptions Pipeline::copy_options() const {
  return static_cast<const CopyStage&>(*stages_[copy_].stage).options();
}

bool Pipeline::static_shapes() const noexcept {
  const SampleSpec& input = stages_[collate_ - 1].output;
  return std::all_of(input.begin(), input.end(),
                     [](const FieldSpec& field) { return field.shape.is_static(); });
}

Held Pipeline::held(std::size_t boundary) const noexcept {
  if (boundary == 0) return Held::none;
  return boundary <= copy_ ? Held::host : Held::device;
}

}  // namespace cachebisect
