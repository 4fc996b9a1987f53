// A pipeline file as a plain struct, with defaults filled in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/storage_spec.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect {

inline constexpr int kAutoWorkers = -1;

struct StageSpec {
  std::string use;   ///< stage type
  std::string name;  ///< unique in the chain
  std::vector<std::string> fields{"image"};
  Params params;              ///< checked against the type, defaults filled in, paths resolved
  bool skip_damaged = false;  ///< "on_error": "skip"

  bool operator==(const StageSpec&) const = default;
};

struct OptimizerSpec {
  std::string kind = "sgd";  ///< sgd | adam | adamw
  double lr = 0.001;
  double momentum = 0;
  double weight_decay = 0;

  bool operator==(const OptimizerSpec&) const = default;
};

struct TrainSpec {
  enum class Kind { model, module, callback, emulated, plugin };
  Kind kind = Kind::callback;
  std::string model;  ///< mlp | lenet | resnet18 | resnet50
  std::int64_t classes = 10;
  std::string module;                        ///< path of a file that PyTorch wrote
  std::vector<std::string> inputs{"image"};  ///< fields, as the module's arguments
  std::string target = "label";              ///< field that the loss of a module compares with
  std::string loss = "cross_entropy";
  OptimizerSpec optimizer;
  std::string precision = "fp32";            ///< fp32 | bf16-mixed | fp16-mixed
  std::string memory_format = "contiguous";  ///< contiguous | channels_last
  int accumulate = 1;                        ///< batches per step of the optimizer
  bool cudnn_benchmark = false;
  bool cuda_graph = false;     ///< CUDA: the step is recorded once and replayed
  std::optional<bool> tf32;    ///< empty: LibTorch's default
  int sync_every = 0;          ///< 0: never
  bool spin = true;            ///< CUDA: waits for the loss and for blocking copies burn CPU
  std::optional<int> threads;  ///< empty: usable physical cores - workers, at least 1
  std::string use;             ///< type of a plugin's step
  Params params;               ///< of a plugin's step

  bool operator==(const TrainSpec&) const = default;
};

/// The emulated accelerator: `emulate` without its `storage`.
struct EmulateSpec {
  double step_ms = 25;
  double copy_gb_per_s = 12;
  double copy_latency_us = 10;
  double clock_drop = 0;    ///< share by which the clock falls at full load of the last 100 ms
  int launches = 1;         ///< per step
  double launch_us = 0;     ///< of the training thread, per launch; emulated device only
  int launch_queue = 1024;  ///< launches that may wait to run; emulated device only
  Jitter jitter{};

  bool operator==(const EmulateSpec&) const = default;
};

struct PipelineSpec {
  std::string name = "pipeline";
  std::string file;    ///< as given; empty for text and for the builder
  std::string sha256;  ///< of the file's bytes; empty without a file
  std::uint64_t seed = 1;
  std::int64_t batch_size = 32;
  int workers = kAutoWorkers;
  int prefetch = 2;
  bool shuffle = true;
  bool drop_last = true;
  int group_by_size = 0;  ///< batches whose samples are sorted by size together; 0: none are
  LoaderKind loader = LoaderKind::sample;
  std::vector<StageSpec> stages;
  TrainSpec train;
  std::string device = "auto";
  std::optional<EmulateSpec> emulate;
  std::optional<StorageSpec> emulated_storage;  ///< that the source reads from, on any device

  bool operator==(const PipelineSpec&) const = default;
};

}  // namespace cachebisect
