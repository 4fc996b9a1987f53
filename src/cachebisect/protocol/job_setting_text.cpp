#include "cachebisect/protocol/job_setting_text.hpp"

#include <algorithm>
#include <array>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

using Values = JobSetting::Values;

constexpr std::string_view kPlaceholder = "{}";
constexpr std::array<std::string_view, 2> kFlags{"false", "true"};

/// The text in quotes of either kind, without them.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// How the code of the job writes false (0) or true (1).
std::string_view flag_word(const JobSetting& setting, std::size_t value) {
  return setting.words.size() == kFlags.size() ? std::string_view(setting.words[value])
                                               : kFlags[value];
}

std::optional<std::string> flag_json(const JobSetting& setting, std::string_view text) {
  for (std::size_t value = 0; value < kFlags.size(); ++value) {
    if (text == kFlags[value] || text == flag_word(setting, value)) {
      return std::string(kFlags[value]);
    }
  }
  return std::nullopt;
}

std::optional<std::string> word_json(const JobSetting& setting, std::string_view text) {
  const std::string_view word = unquoted(text);
  if (std::ranges::find(setting.words, word) == setting.words.end()) return std::nullopt;
  return '"' + std::string(word) + '"';
}

}  // namespace

std::optional<std::string> value_json(const JobSetting& setting, std::string_view text) {
  if (setting.values == Values::flag) return flag_json(setting, text);
  if (setting.values == Values::word) return word_json(setting, text);
  const auto count = parse_number<std::int64_t>(text);
  if (!count || *count < setting.min || *count > setting.max) return std::nullopt;
  return std::to_string(*count);
}

std::string allowed_values(const JobSetting& setting) {
  if (setting.values == Values::flag) {
    return std::string(flag_word(setting, 1)) + " or " + std::string(flag_word(setting, 0));
  }
  if (setting.values == Values::count) {
    return "a whole number from " + std::to_string(setting.min) + " to " +
           std::to_string(setting.max);
  }
  std::string text;
  for (const std::string& word : setting.words) text += (text.empty() ? "" : " or ") + word;
  return text;
}

std::string code_line(const JobSetting& setting, std::string_view json) {
  std::string value(json);
  if (setting.values == Values::flag) value = flag_word(setting, json == "true" ? 1 : 0);
  std::string line = setting.code;
  for (std::size_t at = line.find(kPlaceholder); at != std::string::npos;
       at = line.find(kPlaceholder, at + value.size())) {
    line.replace(at, kPlaceholder.size(), value);
  }
  return line;
}

std::optional<std::string> override_name(const JobSettings& settings, std::string_view path) {
  if (settings.of_file) return std::string(path);
  const JobSetting* const setting = settings.at(path);
  if (setting == nullptr || !setting->can_run) return std::nullopt;
  return setting->name;
}

std::string setting_text(const JobSettings& settings, std::string_view path,
                         std::string_view json) {
  if (const JobSetting* const setting = settings.at(path)) return code_line(*setting, json);
  std::string words(path);
  if (!settings.of_file) {
    std::ranges::replace(words, '_', ' ');
    return words + " " + std::string(json);
  }
  std::ranges::replace(words, '_', '-');
  return "--" + words + " " + std::string(json);
}

}  // namespace cachebisect
