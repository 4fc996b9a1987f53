#include <algorithm>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/protocol/chain_fields.hpp"
#include "cachebisect/remote/description_fields.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/message_reader.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

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

void check_flags(const Fields& message, const std::vector<JobSetting>& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].values != JobSetting::Values::flag || settings[i].words.size() == 2) continue;
    const Fields setting = message.objects_or_empty("settings").at(i);
    setting.object("values").refuse("flags", "how false and true are written");
  }
}

void check_arms(const Fields& message, const AdapterDescription& description) {
  const int last = static_cast<int>(description.chain.stages.size());
  const auto all_within = [last](const std::vector<int>& numbers, int first) {
    return std::ranges::all_of(numbers, [&](int one) { return first <= one && one <= last; });
  };
  if (all_within(description.boundaries, 0) && all_within(description.unseen, 0) &&
      all_within(description.stages, 1)) {
    return;
  }
  const std::string end = std::to_string(last);
  message.refuse("arms", "of boundaries 0 to " + end + " and of stages 1 to " + end);
}

}  // namespace

AdapterDescription read_description(const json& answer) {
  const Fields message(answer, "the answer to 'describe'");
  AdapterDescription description;
  const Fields chain = message.object("chain");
  if (!is_without_loader(chain)) description.chain = read_chain(chain);
  MessageReader reader(message);
  fields(reader, description);
  JobSettings& settings = description.chain.settings;
  settings.of_file = !message.has("settings");
  check_flags(message, settings.all);
  check_arms(message, description);
  return description;
}

}  // namespace cachebisect
