#include "cachebisect/protocol/job_settings.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

/// "stages.*.pinned" of "stages.4.pinned".
std::string without_stage(std::string_view path) {
  constexpr std::string_view kStages = "stages.";
  if (!path.starts_with(kStages)) return std::string(path);
  const std::size_t dot = path.find('.', kStages.size());
  if (dot == std::string_view::npos) return std::string(path);
  return std::string(kStages) + "*" + std::string(path.substr(dot));
}

}  // namespace

std::string_view to_string(SettingValues values) noexcept {
  switch (values) {
    case SettingValues::count:
      return "count";
    case SettingValues::flag:
      return "flag";
    case SettingValues::word:
      return "word";
  }
  return "unknown";
}

const JobSetting* JobSettings::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(all, name, &JobSetting::name);
  return found == all.end() ? nullptr : &*found;
}

const JobSetting* JobSettings::at(std::string_view path) const {
  const auto found = std::ranges::find(all, without_stage(path), &JobSetting::path);
  return found == all.end() ? nullptr : &*found;
}

std::string JobSettings::advice_or(const std::string& id, std::string_view otherwise) const {
  const auto found = advice.find(id);
  return found == advice.end() ? std::string(otherwise) : found->second;
}

}  // namespace cachebisect
