#include "cachebisect/tune/script_scratch.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/costs/cache_file.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::tune {
namespace {

using ValueJson = nlohmann::ordered_json;

/// The stage that an edit names, in the words of the adapter.
std::string stage_of(const Edit& edit) {
  const ValueJson value = ValueJson::parse(edit.value, nullptr, false);
  if (!value.is_string()) throw Error(ErrorKind::usage, "this job cannot write it");
  return value.get<std::string>();
}

/// "transforms0" of "transforms[0]".
std::string file_name(std::string_view word) {
  std::string name;
  std::ranges::copy_if(word, std::back_inserter(name), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  });
  return name.empty() ? "stage" : name;
}

/// Identifies the job, and its stages up to number `after`.
std::string digest_of_stages(const ChainDescription& chain, std::size_t after) {
  std::string text = chain.name + '\n' + std::to_string(chain.samples);
  for (std::size_t s = 0; s < after; ++s) text += '\n' + chain.stages[s].name;
  return shards::checksum_text(shards::text_digest(text));
}

/// `line` with the folder in place of the word that stands for it.
std::string in_folder(std::string line, const std::string& folder) {
  const std::string_view word = kScratchFolder;
  for (std::size_t at = line.find(word); at != std::string::npos;
       at = line.find(word, at + folder.size())) {
    line.replace(at, word.size(), folder);
  }
  return line;
}

/// Names in a folder of cachebisect.cached() or cachebisect.prepare() that no other program writes.
bool is_own_name(const std::string& name) {
  const std::vector<std::string> cache = names_of_cache();
  if (std::ranges::find(cache, name) != cache.end()) return true;
  std::string_view whole = name;
  constexpr std::string_view kUnfinished = ".part";
  if (whole.ends_with(kUnfinished)) whole.remove_suffix(kUnfinished.size());
  if (whole == "positions.bin" || whole == "index.json" || whole == "progress.jsonl") return true;
  return whole.starts_with("shard-") && whole.ends_with(".tar");
}

std::vector<std::string> own_names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (is_own_name(name)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

void ScriptScratch::make(Trial& trial, const ChainDescription& chain, double samples_per_second,
                         const std::stop_token& stop) {
  Edit& edit = trial.edits.at(0);
  const std::string word = stage_of(edit);
  const auto after = cached_stage(chain, word);
  const JobSetting* const setting = chain.settings.find(edit.path.substr(1));
  if (!after || setting == nullptr) throw Error(ErrorKind::usage, "there is no stage " + word);
  const bool caches = trial.written_after.empty();
  const double bytes = chain.stages[*after - 1].output_bytes.value_or(0);
  const double all = bytes * static_cast<double>(chain.samples);
  folder_.create();
  const std::string folder =
      folder_.subfolder(std::string(caches ? "cache-" : "prepared-") + file_name(word) + "-" +
                        digest_of_stages(chain, *after));
  folder_.check_room(folder, all);
  const bool in_memory = folder_.fits_in_memory(
      {.bytes = all, .bytes_per_sample = bytes, .samples_per_second = samples_per_second}, stop);
  std::string line = in_folder(code_line(*setting, edit.value), folder);
  if (caches)
    line = with_file_limit(std::move(line),
                           folder_.within_room(folder, cache_file_limit(chain, *after)));
  trial.lines = {std::move(line)};
  // What was just written is in memory, and would not be there in the next epoch.
  edit.value = ValueJson{{"after", word}, {"folder", folder}, {"cold", !in_memory}}.dump();
  trial.folder = folder;
}

bool ScriptScratch::remove(const Trial& trial) const {
  return folder_.remove(trial.folder, own_names_in(trial.folder));
}

}  // namespace cachebisect::tune
