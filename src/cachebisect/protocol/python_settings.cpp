#include "cachebisect/protocol/python_settings.hpp"

#include <algorithm>

#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using Value = PythonSetting::Value;

constexpr std::string_view kPlaceholder = "{}";
constexpr std::int64_t kMaxThreads = 1024;

constexpr std::array kSettings{
    PythonSetting{.path = "workers",
                  .name = "num_workers",
                  .code = "DataLoader(..., num_workers={})",
                  .min = settings::kWorkers.min,
                  .max = settings::kWorkers.max},
    PythonSetting{.path = "batch_size",
                  .name = "batch_size",
                  .code = "DataLoader(..., batch_size={})",
                  .can_run = false,
                  .min = settings::kBatchSize.min,
                  .max = settings::kBatchSize.max},
    PythonSetting{.path = "prefetch",
                  .name = "prefetch_factor",
                  .code = "DataLoader(..., prefetch_factor={})",
                  .of_workers = true,
                  .min = 1,
                  .max = settings::kPrefetch.max},
    PythonSetting{.path = "stages.*.pinned",
                  .name = "pin_memory",
                  .value = Value::flag,
                  .code = "DataLoader(..., pin_memory={})"},
    PythonSetting{.path = "stages.*.non_blocking",
                  .name = "non_blocking",
                  .value = Value::flag,
                  .code = ".to(device, non_blocking={})"},
    PythonSetting{.path = "in_order",
                  .name = "in_order",
                  .value = Value::flag,
                  .code = "DataLoader(..., in_order={})",
                  .of_workers = true},
    PythonSetting{.path = "persistent_workers",
                  .name = "persistent_workers",
                  .value = Value::flag,
                  .code = "DataLoader(..., persistent_workers={})",
                  .can_run = false},
    PythonSetting{.path = "multiprocessing_context",
                  .name = "multiprocessing_context",
                  .value = Value::word,
                  .code = "DataLoader(..., multiprocessing_context={})",
                  .of_workers = true,
                  .words = {"fork", "spawn", "forkserver"}},
    PythonSetting{.path = "sharing_strategy",
                  .name = "sharing_strategy",
                  .value = Value::word,
                  .code = "torch.multiprocessing.set_sharing_strategy({})",
                  .of_workers = true,
                  .words = {"file_descriptor", "file_system"}},
    PythonSetting{.path = "worker_threads",
                  .name = "worker_threads",
                  .code = "DataLoader(..., worker_init_fn=f), where f(worker) calls "
                          "torch.set_num_threads({}) and cv2.setNumThreads({})",
                  .of_workers = true,
                  .min = 1,
                  .max = kMaxThreads}};

/// "stages.*.pinned" of "stages.4.pinned".
std::string without_stage(std::string_view path) {
  constexpr std::string_view kStages = "stages.";
  if (!path.starts_with(kStages)) return std::string(path);
  const std::size_t dot = path.find('.', kStages.size());
  if (dot == std::string_view::npos) return std::string(path);
  return std::string(kStages) + "*" + std::string(path.substr(dot));
}

/// The text in quotes of either kind, without them.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::string> flag_json(std::string_view text) {
  if (text == "True" || text == "true") return "true";
  if (text == "False" || text == "false") return "false";
  return std::nullopt;
}

}  // namespace

std::span<const PythonSetting> python_settings() noexcept { return kSettings; }

const PythonSetting* find_python_setting(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kSettings, name, &PythonSetting::name);
  return found == kSettings.end() ? nullptr : found;
}

const PythonSetting* python_setting_at(std::string_view path) {
  const auto* const found = std::ranges::find(kSettings, without_stage(path), &PythonSetting::path);
  return found == kSettings.end() ? nullptr : found;
}

std::optional<std::string> python_value_json(const PythonSetting& setting, std::string_view text) {
  if (setting.value == Value::flag) return flag_json(text);
  if (setting.value == Value::word) {
    const std::string_view word = unquoted(text);
    const bool known = !word.empty() && std::ranges::count(setting.words, word) > 0;
    return known ? std::optional('"' + std::string(word) + '"') : std::nullopt;
  }
  const auto count = parse_number<std::int64_t>(text);
  if (!count || *count < setting.min || *count > setting.max) return std::nullopt;
  return std::to_string(*count);
}

std::string allowed_values(const PythonSetting& setting) {
  if (setting.value == Value::flag) return "True or False";
  if (setting.value == Value::count) {
    return "a whole number from " + std::to_string(setting.min) + " to " +
           std::to_string(setting.max);
  }
  std::string text;
  for (const std::string_view word : setting.words) {
    if (!word.empty()) text += (text.empty() ? "" : " or ") + std::string(word);
  }
  return text;
}

std::string python_line(const PythonSetting& setting, std::string_view json) {
  std::string value(json);
  if (json == "true") value = "True";
  if (json == "false") value = "False";
  std::string line(setting.code);
  for (std::size_t at = line.find(kPlaceholder); at != std::string::npos;
       at = line.find(kPlaceholder, at)) {
    line.replace(at, kPlaceholder.size(), value);
  }
  return line;
}

std::optional<std::string> override_name(Dialect dialect, std::string_view path) {
  if (dialect == Dialect::pipeline_file) return std::string(path);
  const PythonSetting* const setting = python_setting_at(path);
  if (setting == nullptr || !setting->can_run) return std::nullopt;
  return std::string(setting->name);
}

std::string setting_text(Dialect dialect, std::string_view path, std::string_view json) {
  if (dialect == Dialect::python) {
    if (const PythonSetting* const setting = python_setting_at(path)) {
      return python_line(*setting, json);
    }
  }
  std::string option = "--" + std::string(path) + " " + std::string(json);
  std::ranges::replace(option, '_', '-');
  return option;
}

}  // namespace cachebisect
