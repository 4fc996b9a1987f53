#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/protocol/chain_fields.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/message_reader.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

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

void check_stages(const Fields& message, const std::vector<StageDescription>& stages) {
  if (stages.empty()) message.refuse("stages", "an array of at least one stage");
  std::set<std::string> names;
  for (const StageDescription& stage : stages) {
    if (names.insert(stage.name).second) continue;
    message.refuse("stages", "of unique names; '" + stage.name + "' appears twice");
  }
}

ChainDescription read_chain(const Fields& message) {
  ChainDescription chain;
  MessageReader reader(message);
  message_fields(reader, chain);
  check_stages(message, chain.stages);
  if (chain.batches_per_step < 1) message.refuse("batches_per_step", "an integer of at least 1");
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
