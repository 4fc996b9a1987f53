#include "cachebisect/tune/scratch.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cachebisect/base/disk_space.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/doctor/storage_probe.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/prepare/inside_data.hpp"
#include "cachebisect/prepare/prepare.hpp"
#include "cachebisect/prepare/prepared_pipeline.hpp"
#include "cachebisect/shards/shard_set.hpp"
#include "cachebisect/tune/climb.hpp"
#include "cachebisect/tune/disk_need.hpp"

namespace cachebisect::tune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kBytesPerGb = 1e9;

std::size_t place_of(const PipelineSpec& spec, const std::string& stage) {
  const auto found = std::ranges::find(spec.stages, stage, &StageSpec::name);
  if (found != spec.stages.end()) return static_cast<std::size_t>(found - spec.stages.begin());
  throw Error(ErrorKind::usage, "there is no stage '" + stage + "' any more");
}

/// Of the stages before place `end`, with all their parameters.
std::string digest_of(const PipelineSpec& spec, std::size_t end) {
  Json stages = Json::parse(to_json(spec)).at("stages");
  stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(end), stages.end());
  return shards::checksum_text(shards::text_digest(stages.dump()));
}

/// The codec that gains most there, of those whose bytes fit; else the one that takes least.
const prepare::StoredCost& best_codec(const prepare::Places& places, const prepare::Place& place,
                                      double free_bytes) {
  const auto samples = static_cast<double>(places.samples);
  const auto rank = [&](const prepare::StoredCost& stored) {
    const bool fits = stored.bytes * samples <= free_bytes;
    return std::pair(fits, fits ? gain_of(places, place, stored) : -stored.bytes);
  };
  return *std::ranges::max_element(place.stored, {}, rank);
}

/// The first `stages` of a pipeline file, taken out, and the shards in their place.
std::vector<Edit> from_shards(std::size_t stages, const std::string& folder) {
  std::vector<Edit> edits;
  for (std::size_t s = stages; s > 0; --s) {
    edits.push_back({"/stages/" + std::to_string(s - 1), "null", EditKind::remove});
  }
  edits.push_back(
      {"/stages/0", Json{{"use", "read.shards"}, {"path", folder}}.dump(), EditKind::insert});
  return edits;
}

/// Names in a folder of a cache or of a data set that no other program writes there.
std::vector<std::string> own_names(const std::string& folder) {
  std::vector<std::string> names{"cache.sqlite",     "cache.sqlite-wal",      "cache.sqlite-shm",
                                 shards::kIndexName, shards::kUnfinishedName, "pipeline.json"};
  for (std::uint64_t shard = 0; exists(folder + "/" + shards::shard_name(shard)); ++shard) {
    names.push_back(shards::shard_name(shard));
  }
  return names;
}

[[noreturn]] void refuse(const std::string& folder, const std::string& why) {
  throw Error(ErrorKind::usage, "--scratch " + folder + ": " + why);
}

bool can_write_to(const fs::path& folder) {
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

Scratch::Scratch(const std::string& folder, const Registry& registry, Tools tools)
    : registry_(registry), tools_(std::move(tools)) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  folder_ = path.has_filename() ? path.string() : path.parent_path().string();
  is_new_ = !fs::exists(folder_, error);
  if (!is_new_ && !fs::is_directory(folder_, error)) refuse(folder, "is no folder");
  const fs::path written = is_new_ ? fs::path(folder_).parent_path() : fs::path(folder_);
  if (!fs::is_directory(written, error)) refuse(folder, "there is no folder " + written.string());
  if (!can_write_to(written)) refuse(folder, "this user cannot write there");
}

Scratch::~Scratch() {
  if (is_new_) static_cast<void>(::rmdir(folder_.c_str()));
}

bool Scratch::make(Trial& trial, const PipelineSpec& best, double samples_per_second) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) throw Error(ErrorKind::output, folder_ + ": cannot be made: " + error.message());
  return trial.written_after.empty() ? make_cache(trial, best, samples_per_second)
                                     : make_data_set(trial, best, samples_per_second);
}

bool Scratch::make_cache(Trial& trial, const PipelineSpec& best, double samples_per_second) {
  Edit& edit = trial.edits.at(0);
  const std::size_t place = std::stoul(edit.path.substr(edit.path.find_last_of('/') + 1));
  Json stage = Json::parse(edit.value);
  const double bytes = kBytesPerGb * stage.at("limit_gb").get<double>();
  const std::string folder = subfolder("cache", best, place);
  check_room(folder, bytes);
  const Pipeline pipeline = opened(best);
  const double samples = std::max(1.0, static_cast<double>(pipeline.samples()));
  const bool fits = fits_in_memory(bytes, bytes / samples, samples_per_second);
  stage["path"] = folder;
  edit.value = stage.dump();
  trial.folder = folder;
  return fits;
}

bool Scratch::make_data_set(Trial& trial, const PipelineSpec& best, double samples_per_second) {
  const std::size_t stages = place_of(best, trial.written_after) + 1;
  const Pipeline pipeline = opened(best);
  prepare::Options asked{.folder = subfolder("prepared", best, stages),
                         .after = trial.written_after,
                         .dry_run = true,
                         .stop = tools_.stop,
                         .progress = tools_.progress};
  const prepare::Result seen = prepare::prepare(pipeline, asked);
  const prepare::Place& place = seen.choice.value().place;
  const prepare::StoredCost& stored = best_codec(seen.places, place, seen.free_bytes);
  const double bytes = stored.bytes * static_cast<double>(pipeline.samples());
  check_room(asked.folder, bytes);
  const bool fits = fits_in_memory(bytes, stored.bytes, samples_per_second);
  asked.codec = stored.codec;
  asked.dry_run = false;
  try {
    static_cast<void>(prepare::prepare(pipeline, asked));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw error.with_context(asked.folder);
  }
  trial.edits = from_shards(stages, asked.folder);
  trial.folder = asked.folder;
  return fits;
}

Pipeline Scratch::opened(const PipelineSpec& best) const {
  Pipeline pipeline = Pipeline::from_spec(prepare::without_caches(best, registry_), registry_,
                                          {.stop = tools_.stop, .progress = tools_.progress});
  prepare::refuse_inside_data(pipeline, folder_, "--scratch");
  return pipeline;
}

std::string Scratch::subfolder(const char* kind, const PipelineSpec& best, std::size_t stages) {
  std::string folder =
      folder_ + "/" + kind + "-" + best.stages.at(stages - 1).name + "-" + digest_of(best, stages);
  if (!exists(folder)) own_.insert(folder);
  return folder;
}

void Scratch::check_room(const std::string& folder, double bytes) const {
  const double free = free_bytes_at(folder_);
  // What is begun has some of its room already, and a full disk can be gone on from.
  if (exists(folder) || bytes <= free) return;
  throw Error(ErrorKind::data, folder_ + ": about " + format_bytes(bytes) + " are needed, and " +
                                   format_bytes(free) +
                                   " are free: free some space, or name another folder");
}

bool Scratch::fits_in_memory(double bytes, double bytes_per_sample,
                             double samples_per_second) const {
  const double available = available_memory().available_bytes;
  if (available <= 0 || bytes <= available) return true;
  const StorageFacts disk = probe_storage({.folder = folder_}, tools_.stop);
  const std::string slow =
      why_too_slow(disk, {.bytes_per_sample = bytes_per_sample,
                          .samples_per_second = samples_per_second * (1 + kLeastGain)});
  if (!slow.empty()) throw Error(ErrorKind::data, folder_ + ": " + slow);
  return false;
}

bool Scratch::remove(const Trial& trial) const {
  if (!own_.contains(trial.folder)) return false;
  for (const std::string& name : own_names(trial.folder)) {
    static_cast<void>(std::remove((trial.folder + "/" + name).c_str()));
  }
  return ::rmdir(trial.folder.c_str()) == 0 || !exists(trial.folder);
}

}  // namespace cachebisect::tune
