// A pipeline that can run: the chain of stages, checked, with the specs at every boundary.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// A stage in its place in the chain.
struct ChainStage {
  std::string name;
  std::string type;  ///< "category.name"
  StageKind kind = StageKind::sample;
  StageTraits traits;
  std::uint64_t random_key = 0;  ///< hash_name(name)
  bool skip_damaged = false;
  std::shared_ptr<Stage> stage;
  std::vector<std::string> fields;  ///< that it works on; empty if its type does not say
  bool batched_output = false;      ///< collate and later
  SampleSpec output;                ///< fields of a sample; of a batch if batched_output
};

/// Order of the chain: source, sample stages, collate, batch stages, copy, device stages. Immutable
/// after it is made; may be run by several executors at once. Keep the Registry alive as long as a
/// Pipeline.
class CACHEBISECT_API Pipeline {
 public:
  /// From JSON text if `path_or_text` begins with '{' or a comment, else from a file path.
  static Pipeline from_json(const std::string& path_or_text, const Registry& registry);
  /// Makes and checks every stage and opens it with `opening`; what stages share is made here if
  /// `opening.shared` is null. Throws, naming the stage, Error(usage) for a wrong order,
  /// Error(data) if the source cannot be opened and Error(interrupted).
  static Pipeline from_spec(PipelineSpec spec, const Registry& registry, OpenContext opening = {});

  [[nodiscard]] const PipelineSpec& spec() const noexcept { return spec_; }
  /// False for one that a program built: its spec does not have the parameters of stages.
  [[nodiscard]] bool has_whole_spec() const noexcept { return whole_spec_; }
  [[nodiscard]] const std::vector<ChainStage>& stages() const noexcept { return stages_; }
  [[nodiscard]] std::uint64_t samples() const;  ///< of the source
  [[nodiscard]] std::int64_t batch_size() const noexcept { return spec_.batch_size; }
  [[nodiscard]] const SourceStage& source() const;
  [[nodiscard]] std::size_t collate_position() const noexcept {
    return collate_;
  }                                                                           ///< index in stages()
  [[nodiscard]] std::size_t copy_position() const noexcept { return copy_; }  ///< index in stages()
  [[nodiscard]] const CollateStage& collate() const;
  [[nodiscard]] CopyOptions copy_options() const;
  /// The batches that reach the training step.
  [[nodiscard]] const BatchSpec& device_spec() const { return stages_.back().output; }
  [[nodiscard]] bool static_shapes() const noexcept;  ///< of every field at collate's input
  /// Where the output of boundary k (0..n) is held.
  [[nodiscard]] Held held(std::size_t boundary) const noexcept;
  /// What its stages share, for variants of the pipeline.
  [[nodiscard]] const std::shared_ptr<SharedObjects>& shared() const noexcept { return shared_; }

 private:
  friend class PipelineBuilder;
  void check_and_infer(OpenContext opening);
  /// Puts emulated storage behind the source, if the spec says so.
  void emulate_storage();
  /// `learning`: also opens and runs stages, to learn the outputs of callables.
  void infer_specs(bool learning, const OpenContext& opening);

  PipelineSpec spec_;
  bool whole_spec_ = false;
  std::shared_ptr<SharedObjects> shared_;
  std::vector<ChainStage> stages_;
  std::size_t collate_ = 0;
  std::size_t copy_ = 0;
};

/// A stage for the builder: what stages::random_resized_crop({...}) returns.
struct BuiltStage {
  std::string type;  ///< "augment.random_resized_crop"
  StageTraits traits;
  std::shared_ptr<Stage> stage;
};

/// Builds a pipeline in C++, from stages and from your own callables.
class CACHEBISECT_API PipelineBuilder {
 public:
  using ReadFunction = std::function<void(SampleIndex, Sample&)>;
  using ProcessFunction = std::function<void(const Sample&, Sample&)>;

  PipelineBuilder& name(std::string name);
  PipelineBuilder& source(std::string name, std::uint64_t samples, ReadFunction read);
  PipelineBuilder& source(std::string name, BuiltStage stage);
  /// A sample stage; build() learns its output by running the chain on a few samples.
  PipelineBuilder& stage(std::string name, ProcessFunction process);
  PipelineBuilder& stage(BuiltStage stage);
  PipelineBuilder& stage(std::string name, BuiltStage stage);
  PipelineBuilder& collate(const std::string& layout = "NHWC");
  PipelineBuilder& copy(CopyOptions options = {});
  PipelineBuilder& batch_size(std::int64_t size);
  PipelineBuilder& workers(int workers);  ///< 0: inside the training thread; kAutoWorkers
  PipelineBuilder& prefetch(int batches);
  PipelineBuilder& shuffle(bool shuffle);
  PipelineBuilder& drop_last(bool drop_last);
  /// Batches of samples of similar size: those of so many batches are sorted by their bytes in
  /// storage, and the batches shuffled. The source must know the sizes. 0: not.
  PipelineBuilder& group_by_size(int batches);
  PipelineBuilder& loader(LoaderKind kind);
  /// Samples that the stage added before this call rejects as damaged are replaced and counted.
  PipelineBuilder& skip_damaged();
  PipelineBuilder& seed(std::uint64_t seed);
  PipelineBuilder& device(std::string device);
  PipelineBuilder& emulate(EmulateSpec emulate);
  /// Reads of the source wait for such a storage.
  PipelineBuilder& emulate_storage(StorageSpec storage);
  /// Checks the chain as Pipeline::from_spec does, and runs a few samples if there are callables.
  /// The builder is empty afterwards.
  [[nodiscard]] Pipeline build();

 private:
  PipelineBuilder& add(std::string name, BuiltStage built);

  Pipeline pipeline_;
};

}  // namespace cachebisect
