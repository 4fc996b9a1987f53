#include "cachebisect/replay/describe_chain.hpp"

#include "cachebisect/device/cuda_environment.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/reading/count_reads.hpp"
#include "cachebisect/train/train_threads.hpp"

namespace cachebisect {
namespace {

std::string to_text(const SampleSpec& spec) {
  std::string text;
  for (const FieldSpec& field : spec) {
    if (!text.empty()) text += ", ";
    text += field.name + " " + std::string(to_string(field.dtype)) + " " + field.shape.to_string();
  }
  return text;
}

/// Bytes of one sample where the shapes are known in advance.
std::optional<double> static_bytes(const ChainStage& stage, std::int64_t batch_size) {
  double bytes = 0;
  for (const FieldSpec& field : stage.output) {
    if (!field.shape.is_static()) return std::nullopt;
    bytes +=
        static_cast<double>(field.shape.elements()) * static_cast<double>(size_of(field.dtype));
  }
  return stage.batched_output ? bytes / static_cast<double>(batch_size) : bytes;
}

std::vector<StageDescription> describe_stages(const Pipeline& pipeline,
                                              std::span<const double> item_bytes) {
  std::vector<StageDescription> all;
  bool random = false;
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i) {
    const ChainStage& stage = pipeline.stages()[i];
    random = random || stage.traits.random;
    StageDescription& d = all.emplace_back();
    d.name = stage.name;
    d.type = stage.type;
    d.category = category_of(stage.type);
    d.kind = stage.kind;
    d.random = stage.traits.random;
    d.stateful = stage.traits.stateful;
    d.side_effects = stage.traits.side_effects;
    d.cacheable = !random;
    d.output = to_text(stage.output);
    d.output_bytes = static_bytes(stage, pipeline.batch_size());
    if (!d.output_bytes && i + 1 < item_bytes.size()) d.output_bytes = item_bytes[i + 1];
    d.held = pipeline.held(i + 1);
    if (stage.traits.caches) d.cache = static_cast<const CacheStage&>(*stage.stage).use();
  }
  return all;
}

DeviceFacts describe_facts(const DeviceInfo& info, const TrainStep& step) {
  DeviceFacts facts = info.facts;
  const StepLibraries libraries = step.libraries();
  facts.libtorch_version = libraries.libtorch;
  facts.cudnn_version = libraries.cudnn;
  if (info.kind == DeviceKind::cuda) facts.environment = read_device_environment();
  return facts;
}

}  // namespace

ChainDescription describe_chain(const Trainer& trainer, std::span<const double> item_bytes) {
  const Pipeline& pipeline = trainer.pipeline;
  const PipelineSpec& spec = pipeline.spec();
  const CopyOptions copy = pipeline.copy_options();
  const DeviceInfo& info = trainer.device->info();
  ChainDescription d;
  d.name = spec.name;
  d.file = spec.file;
  d.sha256 = spec.sha256;
  d.effective_json = to_json(spec);
  d.stages = describe_stages(pipeline, item_bytes);
  d.batch_size = spec.batch_size;
  d.workers = trainer.loader.workers();
  d.loader = spec.loader;
  d.ring_slots = trainer.loader.slots();
  d.train_threads = train_threads(spec.train, trainer.loader.workers());
  d.samples = pipeline.samples();
  d.counts_storage = counts_reads(pipeline);
  d.generated_data = pipeline.source().generated();
  d.shuffle = spec.shuffle;
  d.seed = spec.seed;
  d.order_nonce = trainer.order.nonce();
  d.train = trainer.step->description();
  d.weights_restored = trainer.restores_weights;
  d.sync_every = spec.train.sync_every;
  d.batches_per_step = spec.train.accumulate;
  d.copy_pinned = copy.pinned;
  d.copy_non_blocking = copy.non_blocking;
  d.copy_prefetch = copy.prefetch;
  d.ring_prefetch = spec.prefetch;
  d.device_kind = info.kind;
  d.device_clock_falls = info.clock_falls;
  d.device_name = info.name;
  if (info.memory_bytes) d.device_memory_bytes = static_cast<double>(*info.memory_bytes);
  d.copy_gb_per_s = info.copy_gb_per_s;
  d.device_facts = describe_facts(info, *trainer.step);
  if (info.kind == DeviceKind::cpu && spec.device == "auto") d.gpu_problem = gpu_problem();
  return d;
}

}  // namespace cachebisect
