#include <utility>

#include "cachebisect/pipeline/callable_stages.hpp"
#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/plain_copy.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

namespace cachebisect {

PipelineBuilder& PipelineBuilder::add(std::string name, BuiltStage built) {
  if (!built.stage) {
    throw Error(ErrorKind::usage, "stage '" + name + "' (" + built.type + ") is null");
  }
  ChainStage link;
  link.name = name.empty() ? default_stage_name(built.type, pipeline_.stages_) : std::move(name);
  link.type = std::move(built.type);
  link.kind = built.stage->kind();
  link.traits = built.traits;
  link.random_key = hash_name(link.name);
  link.stage = std::move(built.stage);
  StageSpec spec;
  spec.use = link.type;
  spec.name = link.name;
  pipeline_.spec_.stages.push_back(std::move(spec));
  pipeline_.stages_.push_back(std::move(link));
  return *this;
}

PipelineBuilder& PipelineBuilder::name(std::string name) {
  pipeline_.spec_.name = std::move(name);
  return *this;
}

PipelineBuilder& PipelineBuilder::source(std::string name, std::uint64_t samples,
                                         ReadFunction read) {
  return add(std::move(name),
             {"read.callable", {}, std::make_shared<CallableSource>(samples, std::move(read))});
}

PipelineBuilder& PipelineBuilder::source(std::string name, BuiltStage stage) {
  return add(std::move(name), std::move(stage));
}

PipelineBuilder& PipelineBuilder::stage(std::string name, ProcessFunction process) {
  std::string type = "custom." + name;
  return add(std::move(name),
             {std::move(type), {}, std::make_shared<CallableStage>(std::move(process))});
}

PipelineBuilder& PipelineBuilder::stage(BuiltStage stage) { return add({}, std::move(stage)); }

PipelineBuilder& PipelineBuilder::stage(std::string name, BuiltStage stage) {
  return add(std::move(name), std::move(stage));
}

PipelineBuilder& PipelineBuilder::collate(const std::string& layout) {
  return add({}, {"collate.stack", {}, std::make_shared<StackCollate>(parse_batch_layout(layout))});
}

PipelineBuilder& PipelineBuilder::copy(CopyOptions options) {
  return add({}, {"copy.device", {}, std::make_shared<PlainCopy>(options)});
}

PipelineBuilder& PipelineBuilder::batch_size(std::int64_t size) {
  pipeline_.spec_.batch_size = size;
  return *this;
}

PipelineBuilder& PipelineBuilder::workers(int workers) {
  pipeline_.spec_.workers = workers;
  return *this;
}

PipelineBuilder& PipelineBuilder::prefetch(int batches) {
  pipeline_.spec_.prefetch = batches;
  return *this;
}

PipelineBuilder& PipelineBuilder::shuffle(bool shuffle) {
  pipeline_.spec_.shuffle = shuffle;
  return *this;
}

PipelineBuilder& PipelineBuilder::drop_last(bool drop_last) {
  pipeline_.spec_.drop_last = drop_last;
  return *this;
}

PipelineBuilder& PipelineBuilder::group_by_size(int batches) {
  pipeline_.spec_.group_by_size = batches;
  return *this;
}

PipelineBuilder& PipelineBuilder::loader(LoaderKind kind) {
  pipeline_.spec_.loader = kind;
  return *this;
}

PipelineBuilder& PipelineBuilder::skip_damaged() {
  if (pipeline_.stages_.empty()) {
    throw Error(ErrorKind::usage,
                "skip_damaged() applies to the stage before it, and there is none");
  }
  pipeline_.stages_.back().skip_damaged = true;
  pipeline_.spec_.stages.back().skip_damaged = true;
  return *this;
}

PipelineBuilder& PipelineBuilder::seed(std::uint64_t seed) {
  pipeline_.spec_.seed = seed;
  return *this;
}

PipelineBuilder& PipelineBuilder::device(std::string device) {
  pipeline_.spec_.device = std::move(device);
  return *this;
}

PipelineBuilder& PipelineBuilder::emulate(EmulateSpec emulate) {
  pipeline_.spec_.emulate = emulate;
  return *this;
}

PipelineBuilder& PipelineBuilder::emulate_storage(StorageSpec storage) {
  pipeline_.spec_.emulated_storage = storage;
  return *this;
}

Pipeline PipelineBuilder::build() {
  Pipeline built = std::move(pipeline_);
  pipeline_ = Pipeline{};
  built.check_and_infer({});
  return built;
}

}  // namespace cachebisect
