#include "cachebisect/tune/scratch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/prepare/inside_data.hpp"
#include "cachebisect/prepare/prepare.hpp"
#include "cachebisect/prepare/prepared_pipeline.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBytesPerGb = 1e9;

std::size_t place_of(const PipelineSpec& spec, const std::string& stage) {
  const auto found = std::ranges::find(spec.stages, stage, &StageSpec::name);
  if (found != spec.stages.end()) return static_cast<std::size_t>(found - spec.stages.begin());
  throw Error(ErrorKind::usage, "there is no stage '" + stage + "' any more");
}

/// Identifies the stages before place `end`, with all their parameters.
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
  std::vector<std::string> names = names_of_cache();
  names.insert(names.end(), {shards::kIndexName, shards::kUnfinishedName, "pipeline.json"});
  for (std::uint64_t shard = 0; exists(folder + "/" + shards::shard_name(shard)); ++shard) {
    names.push_back(shards::shard_name(shard));
  }
  return names;
}

}  // namespace

Scratch::Scratch(const std::string& folder, const Registry& registry, Tools tools)
    : folder_(folder), registry_(registry), tools_(std::move(tools)) {}

bool Scratch::make(Trial& trial, const PipelineSpec& best, double samples_per_second) {
  folder_.create();
  return trial.written_after.empty() ? make_cache(trial, best, samples_per_second)
                                     : make_data_set(trial, best, samples_per_second);
}

bool Scratch::make_cache(Trial& trial, const PipelineSpec& best, double samples_per_second) {
  Edit& edit = trial.edits.at(0);
  const std::size_t place = std::stoul(edit.path.substr(edit.path.find_last_of('/') + 1));
  Json stage = Json::parse(edit.value);
  const double bytes = kBytesPerGb * stage.at("limit_gb").get<double>();
  const std::string folder = subfolder("cache", best, place);
  folder_.check_room(folder, bytes);
  const Pipeline pipeline = opened(best);
  const double samples = std::max(1.0, static_cast<double>(pipeline.samples()));
  const bool fits = folder_.fits_in_memory({.bytes = bytes,
                                            .bytes_per_sample = bytes / samples,
                                            .samples_per_second = samples_per_second},
                                           tools_.stop);
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
  folder_.check_room(asked.folder, bytes);
  const bool fits = folder_.fits_in_memory(
      {.bytes = bytes, .bytes_per_sample = stored.bytes, .samples_per_second = samples_per_second},
      tools_.stop);
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
  prepare::refuse_inside_data(pipeline, folder_.path(), "--scratch");
  return pipeline;
}

std::string Scratch::subfolder(const char* kind, const PipelineSpec& best, std::size_t stages) {
  return folder_.subfolder(std::string(kind) + "-" + best.stages.at(stages - 1).name + "-" +
                           digest_of(best, stages));
}

bool Scratch::remove(const Trial& trial) const {
  return folder_.remove(trial.folder, own_names(trial.folder));
}

}  // namespace cachebisect::tune
