#include <algorithm>
#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// The one of `values` whose name the field holds.
template <class Kind, std::size_t N>
Kind kind_of(const Fields& fields, const char* key, const std::array<Kind, N>& values) {
  const std::string name = fields.text(key);
  std::string names;
  for (const Kind kind : values) {
    if (to_string(kind) == name) return kind;
    names += (names.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  fields.refuse(key, "one of " + names);
}

constexpr std::array kStageKinds{StageKind::source, StageKind::sample, StageKind::collate,
                                 StageKind::batch,  StageKind::copy,   StageKind::device};
constexpr std::array kHeld{Held::none, Held::host, Held::device};
constexpr std::array kDevices{DeviceKind::cpu, DeviceKind::cuda, DeviceKind::emulated};

/// {"min": 0, "max": 1024}, {"words": [...]} or {"flags": ["False", "True"]}.
void read_values(const Fields& fields, JobSetting& setting) {
  setting.words = fields.texts_or_empty("flags");
  if (!setting.words.empty()) {
    setting.values = JobSetting::Values::flag;
    if (setting.words.size() != 2) fields.refuse("flags", "how false and true are written");
    return;
  }
  setting.words = fields.texts_or_empty("words");
  if (!setting.words.empty()) {
    setting.values = JobSetting::Values::word;
    return;
  }
  setting.min = fields.small_count("min");
  setting.max = fields.small_count("max");
}

JobSetting read_setting(const Fields& fields) {
  JobSetting setting;
  setting.name = fields.text("name");
  setting.path = fields.text_or("path", setting.name);
  setting.code = fields.text("code");
  read_values(fields.object("values"), setting);
  setting.can_run = fields.flag_or("can_run", false);
  setting.of_workers = fields.flag_or("of_workers", false);
  setting.per_worker = fields.flag_or("per_worker", false);
  return setting;
}

/// Reads the settings of a job. If an adapter names them, the job is changed in code.
void read_settings(const Fields& description, JobSettings& settings) {
  settings.of_file = !description.has("settings");
  for (const Fields& setting : description.objects_or_empty("settings")) {
    settings.all.push_back(read_setting(setting));
  }
  settings.advice = description.texts_by_name("advice");
}

StageDescription read_stage(const Fields& fields) {
  StageDescription stage;
  stage.name = fields.text("name");
  stage.type = fields.text("type");
  stage.category = category_of(stage.type);
  stage.kind = kind_of(fields, "kind", kStageKinds);
  stage.random = fields.flag_or("random", false);
  stage.stateful = fields.flag_or("stateful", false);
  stage.side_effects = fields.flag_or("side_effects", false);
  stage.cacheable = fields.flag_or("cacheable", true);
  stage.output = fields.text_or("output", "");
  stage.output_bytes = fields.optional_number("output_bytes");
  stage.held = kind_of(fields, "held", kHeld);
  stage.elementwise = fields.flag_or("elementwise", false);
  stage.makes_floats = fields.flag_or("makes_floats", false);
  return stage;
}

std::vector<StageDescription> read_stages(const Fields& chain) {
  std::vector<StageDescription> stages;
  std::set<std::string> names;
  for (const Fields& fields : chain.objects_or_empty("stages")) {
    stages.push_back(read_stage(fields));
    if (!names.insert(stages.back().name).second) {
      fields.refuse("name", "unique; '" + stages.back().name + "' appears twice");
    }
  }
  if (stages.empty()) chain.refuse("stages", "an array of at least one stage");
  return stages;
}

void read_copy_and_device(const Fields& fields, ChainDescription& chain) {
  chain.copy_pinned = fields.flag_or("copy_pinned", true);
  chain.copy_non_blocking = fields.optional_flag("copy_non_blocking");
  chain.copy_prefetch = fields.small_count_or("copy_prefetch", 0);
  chain.device_kind = kind_of(fields, "device_kind", kDevices);
  chain.device_name = fields.text("device_name");
  chain.device_memory_bytes = fields.optional_number("device_memory_bytes");
  chain.copy_gb_per_s = fields.optional_number("copy_gb_per_s");
  chain.usable_cpus = fields.optional_number("usable_cpus");
}

BatchContents read_contents(const Fields& fields) {
  BatchContents contents;
  contents.objects = fields.count("objects");
  contents.tensors = fields.count("tensors");
  contents.packed_tensors = fields.count_or("packed_tensors", contents.tensors);
  contents.bytes = fields.amount("bytes");
  return contents;
}

void read_processes(const Fields& fields, ChainDescription& chain) {
  chain.worker_threads = fields.small_count_or("worker_threads", 1);
  chain.local_ranks = fields.small_count_or("local_ranks", 1);
  chain.worker_bytes = fields.optional_number("worker_bytes");
  chain.epoch_start_seconds = fields.optional_number("epoch_start_seconds");
  chain.persistent_workers = fields.flag_or("persistent_workers", false);
  chain.worker_processes = fields.flag_or("worker_processes", false);
  chain.profiles_steps = fields.flag_or("profiles_steps", false);
  chain.counts_storage = fields.flag_or("counts_storage", false);
  if (fields.has("batch_contents")) {
    chain.batch_contents = read_contents(fields.object("batch_contents"));
  }
}

ChainDescription read_chain(const Fields& fields) {
  ChainDescription chain;
  chain.name = fields.text("name");
  chain.file = fields.text_or("file", "");
  chain.sha256 = fields.text_or("sha256", "");
  if (fields.has("effective")) chain.effective_json = fields.value("effective").dump();
  chain.stages = read_stages(fields);
  chain.batch_size = fields.small_count("batch_size");
  if (chain.batch_size < 1) fields.refuse("batch_size", "an integer of at least 1");
  chain.workers = fields.small_count("workers");
  chain.loader = kind_of(fields, "loader", kLoaderKinds);
  chain.ring_slots = fields.small_count_or("ring_slots", 0);
  chain.keeps_queues = fields.flag_or("keeps_queues", false);
  chain.ring_prefetch = fields.small_count_or("ring_prefetch", 0);
  chain.batches_per_step = fields.small_count_or("batches_per_step", 1);
  if (chain.batches_per_step < 1) fields.refuse("batches_per_step", "an integer of at least 1");
  chain.train_threads = fields.small_count_or("train_threads", 1);
  chain.samples = fields.count("samples");
  if (fields.has("epoch_samples")) chain.epoch_samples = fields.count("epoch_samples");
  chain.generated_data = fields.flag_or("generated_data", false);
  chain.shuffle = fields.flag_or("shuffle", true);
  chain.seed = fields.count_or("seed", 1);
  if (fields.has("order_nonce")) chain.order_nonce = fields.count("order_nonce");
  chain.train = fields.text("train");
  chain.weights_restored = fields.flag_or("weights_restored", true);
  chain.sync_every = fields.small_count_or("sync_every", 0);
  read_copy_and_device(fields, chain);
  read_processes(fields, chain);
  return chain;
}

/// Such a rank says nothing else of a chain.
bool is_without_loader(const Fields& chain) { return chain.text_or("loader", "") == "none"; }

void read_arm(const Fields& fields, AdapterDescription& description) {
  const std::string kind = fields.text("kind");
  if (kind == to_string(ArmKind::replay)) {
    description.boundaries = fields.small_counts("boundaries");
  } else if (kind == to_string(ArmKind::unseen)) {
    description.unseen = fields.small_counts("boundaries");
  } else if (kind == to_string(ArmKind::bypass)) {
    description.stages = fields.small_counts("stages");
  } else if (kind == to_string(ArmKind::shadow)) {
    description.shadow = true;
  } else if (kind == to_string(ArmKind::live)) {
    description.overrides = true;
  }
}

}  // namespace

AdapterDescription read_description(const json& answer) {
  const Fields fields(answer, "the answer to 'describe'");
  AdapterDescription description;
  const Fields chain = fields.object("chain");
  if (!is_without_loader(chain)) description.chain = read_chain(chain);
  read_settings(fields, description.chain.settings);
  for (const Fields& arm : fields.objects_or_empty("arms")) read_arm(arm, description);
  description.expect_samples_per_second = fields.optional_number("expect_samples_per_second");
  description.settling_steps = fields.small_count_or("settling_steps", 0);
  description.notes = fields.texts_or_empty("notes");
  if (fields.has("rank")) description.rank = fields.small_count("rank");
  if (fields.has("world")) description.world = fields.small_count("world");
  return description;
}

}  // namespace cachebisect
