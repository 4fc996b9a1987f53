// The fields of the answer to `describe` next to the chain: the arms, and how the job is changed
// (base/fields.hpp). Those of the chain: protocol/chain_fields.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {

/// An entry of `arms`.
struct OfferedArms {
  std::string kind;
  std::vector<int> boundaries{};  ///< of replay and unseen
  std::vector<int> stages{};      ///< of bypass
};

/// An entry of `settings`: as JobSetting, whose fields of a recording are others.
struct OfferedSetting : JobSetting {};

/// A field of some entries of a list: required where it is read, and read of these alone.
template <class Visitor>
[[nodiscard]] constexpr FieldKey of_some(std::string_view name, std::string_view doc = {}) {
  return {name, doc, Presence::usual, Visitor::kReads ? Sent::required : Sent::optional};
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, OfferedArms>& arms) {
  const auto may_be = [&arms](ArmKind kind) {
    return !Visitor::kReads || arms.kind == to_string(kind);
  };
  v.text({"kind", "replay, unseen, bypass, shadow or live; others are ignored"}, arms.kind);
  if (may_be(ArmKind::replay) || may_be(ArmKind::unseen)) {
    v.wholes(of_some<Visitor>("boundaries", "of replay and unseen"), arms.boundaries);
  }
  if (may_be(ArmKind::bypass)) {
    v.wholes(of_some<Visitor>("stages", "of bypass, from 1"), arms.stages);
  }
}

/// Whether there are words: they are `values` then.
inline bool were_read(JobSetting& setting, SettingValues values) {
  if (setting.words.empty()) return false;
  setting.values = values;
  return true;
}
/// A visitor that does not read goes on to all fields.
inline bool were_read(const JobSetting& /*setting*/, SettingValues /*values*/) { return false; }

/// One of three kinds: flags, else words, else a range.
template <class Visitor>
void value_fields(Visitor& v, Visited<Visitor, OfferedSetting>& setting) {
  v.texts(if_sent("flags", "how false and true are written"), setting.words);
  if (were_read(setting, SettingValues::flag)) return;
  v.texts(if_sent("words", "those that are allowed"), setting.words);
  if (were_read(setting, SettingValues::word)) return;
  v.whole(of_some<Visitor>("min"), setting.min);
  v.whole(of_some<Visitor>("max"), setting.max);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, OfferedSetting>& setting) {
  v.text({"name", "in --what-if and in the overrides of a live arm"}, setting.name);
  if constexpr (Visitor::kReads) setting.path = setting.name;
  v.text(if_sent("path", "what the engine calls it; else its name"), setting.path);
  v.text({"code", "what to change; {} stands for the value"}, setting.code);
  v.group({"values", "flags, words, or min and max"}, [&] { value_fields(v, setting); });
  if constexpr (Visitor::kReads) setting.can_run = false;
  v.flag(if_sent("can_run", "a live arm with this override may run"), setting.can_run);
  v.flag(if_sent("of_workers", "it means nothing without workers"), setting.of_workers);
  v.flag(if_sent("per_worker", "its value is that of each worker"), setting.per_worker);
}

/// Adds what `arms` offer. Kinds that are not known add nothing.
inline void offer(const OfferedArms& arms, AdapterDescription& description) {
  const auto is = [&arms](ArmKind kind) { return arms.kind == to_string(kind); };
  if (is(ArmKind::replay)) description.boundaries = arms.boundaries;
  if (is(ArmKind::unseen)) description.unseen = arms.boundaries;
  if (is(ArmKind::bypass)) description.stages = arms.stages;
  if (is(ArmKind::shadow)) description.shadow = true;
  if (is(ArmKind::live)) description.overrides = true;
}

/// All but the chain.
template <class Visitor>
void fields(Visitor& v, Visited<Visitor, AdapterDescription>& description) {
  auto& job = description.chain.settings;
  std::vector<OfferedSetting> settings;
  v.list(if_sent("settings", "missing: those of a pipeline file"), settings);
  v.texts_by_name(if_sent("advice", "by the id of a remedy or a warning"), job.advice);
  std::vector<OfferedArms> arms;
  v.list(if_sent("arms", "that run accepts"), arms);
  if constexpr (Visitor::kReads) {
    job.all.assign(settings.begin(), settings.end());
    for (const OfferedArms& one : arms) offer(one, description);
  }
  v.number({"expect_samples_per_second", "of the untouched loader"},
           description.expect_samples_per_second);
  v.whole(if_sent("settling_steps",
                  "the most untimed steps of an arm's first block beyond those asked for"),
          description.settling_steps);
  v.texts(if_sent("notes", "for the user"), description.notes);
  v.whole({"rank", "of a distributed job"}, description.rank);
  v.whole({"world"}, description.world);
}

}  // namespace cachebisect
