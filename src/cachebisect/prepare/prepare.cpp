#include "cachebisect/prepare/prepare.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "cachebisect/base/disk_space.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/pipeline/cache_origin.hpp"
#include "cachebisect/pipeline/source_print.hpp"
#include "cachebisect/prepare/inside_data.hpp"
#include "cachebisect/prepare/prepared_pipeline.hpp"
#include "cachebisect/prepare/sample_writer.hpp"
#include "cachebisect/shards/record_codec.hpp"

namespace cachebisect::prepare {
namespace {

std::string names_of(const Places& places) {
  std::string names;
  for (const Place& place : places.all) names += (names.empty() ? "" : ", ") + place.after;
  return names;
}

/// Throws Error(usage) if the samples behind this stage cannot be prepared.
const Place& place_named(const Pipeline& pipeline, const Places& places, const std::string& after) {
  if (const Place* const place = places.find(after)) return *place;
  const auto& stages = pipeline.stages();
  const auto at = std::ranges::find(stages, after, &ChainStage::name);
  const std::string which = "--after " + quote(after) + ": ";
  if (at == stages.end()) {
    std::vector<std::string> names;
    for (const Place& place : places.all) names.push_back(place.after);
    throw Error(ErrorKind::usage, which + "there is no such stage; " + suggestion(after, names));
  }
  const auto position = static_cast<std::size_t>(at - stages.begin());
  if (position >= pipeline.collate_position()) {
    throw Error(ErrorKind::usage, which +
                                      "samples are prepared, and this stage has batches; there "
                                      "are " +
                                      names_of(places));
  }
  if (at->traits.caches) {
    throw Error(ErrorKind::usage, which + "a cache hands samples on; name the stage before it");
  }
  throw Error(
      ErrorKind::usage,
      which + "'" + places.random +
          "' draws random numbers, and every epoch would get the same ones: prepare after " +
          names_of(places) + ", or add --allow semantic, which changes training");
}

const StoredCost& cost_of(const Place& place, const std::string& codec) {
  const auto at = std::ranges::find(place.stored, codec, &StoredCost::codec);
  return at == place.stored.end() ? place.stored.front() : *at;
}

/// What the folder holds is gone on with, whatever would gain most now.
Options as_begun(Options options, const std::optional<shards::ShardSet>& held) {
  if (!held) return options;
  if (options.after.empty()) options.after = held->after;
  if (options.codec.empty() && options.after == held->after) options.codec = held->codec;
  return options;
}

std::optional<Choice> choose(const Pipeline& pipeline, const Places& places, const Options& options,
                             double free_bytes) {
  if (options.after.empty()) return best_choice(places, free_bytes);
  const Place& place = place_named(pipeline, places, options.after);
  const StoredCost& stored = cost_of(place, options.codec.empty() ? "none" : options.codec);
  return Choice{.place = place, .stored = stored, .gain = gain_of(places, place, stored)};
}

void check_room(const Options& options, const Choice& choice, std::uint64_t samples,
                double free_bytes) {
  const double needed = choice.stored.bytes * static_cast<double>(samples);
  if (needed <= free_bytes) return;
  throw Error(ErrorKind::data, options.folder + ": about " + format_bytes(needed) +
                                   " are needed, and " + format_bytes(free_bytes) +
                                   " are free: free some space, name another folder, or store with "
                                   "--codec zstd:1");
}

shards::ShardSet facts_of(const Pipeline& pipeline, const Choice& choice) {
  const std::size_t stages = choice.place.stages;
  return {.content = content_of(cache_origin(pipeline.spec(), pipeline.stages(), stages)),
          .after = choice.place.after,
          .codec = choice.stored.codec,
          .spec = pipeline.stages()[stages - 1].output,
          .source_samples = pipeline.samples(),
          .generated = pipeline.source().generated()};
}

/// Every shard is held open by what reads the set.
std::uint64_t shard_bytes(const Options& options, const Choice& choice, std::uint64_t samples) {
  constexpr double kUsual = 128 << 20;
  constexpr double kMostShards = 512;
  if (options.shard_bytes > 0) return options.shard_bytes;
  const double all = choice.stored.bytes * static_cast<double>(samples);
  return static_cast<std::uint64_t>(std::max(kUsual, all / kMostShards));
}

bool holds(const std::string& file, const std::string& text) {
  try {
    return read_text_file(file, text.size() + 1, "a pipeline file") == text;
  } catch (const Error&) {
    return false;
  }
}

/// Writes pipeline.json, or pipeline-2.json if that is another one, and so on. Returns its path;
/// empty for pipelines that a program built.
std::string write_pipeline(const Pipeline& pipeline, const std::string& folder,
                           std::size_t stages) {
  if (!pipeline.has_whole_spec()) return "";
  const std::string text = prepared_pipeline(pipeline.spec(), stages);
  for (int number = 1;; ++number) {
    const std::string name = number == 1 ? "pipeline" : "pipeline-" + std::to_string(number);
    std::string path = folder;
    path.append("/").append(name).append(".json");
    if (holds(path, text)) return path;
    if (exists(path)) continue;
    replace_file(path, std::as_bytes(std::span(text)));
    return path;
  }
}

/// The error, with what is whole and how to go on.
Error with_state(const Error& error, const shards::ShardSetWriter& out) {
  const std::uint64_t done = out.next_sample();
  const std::string state = done == 0
                                ? std::string("no shard is whole yet")
                                : "the shards of " + format_count(done) + " of " +
                                      format_count(out.set().source_samples) + " samples are whole";
  return {error.kind(),
          std::string(error.what()) + " (" + state + "; the same command goes on from there)"};
}

Written write_all(const Pipeline& pipeline, const Options& options, const Choice& choice) {
  const auto begin = std::chrono::steady_clock::now();
  refuse_inside_data(pipeline, options.folder, "--out");
  shards::ShardSetWriter out(options.folder, facts_of(pipeline, choice));
  Written written{.after = choice.place.after, .codec = choice.stored.codec};
  written.resumed = out.next_sample();
  const std::string total = format_count(pipeline.samples());
  const auto progress = [&](std::uint64_t done) {
    if (options.progress) options.progress(format_count(done) + " of " + total + " samples");
  };
  if (!out.is_finished()) {
    try {
      SampleWriter(pipeline, choice.place.stages, shard_bytes(options, choice, pipeline.samples()),
                   out)
          .run(options.stop, progress);
      if (out.set().samples() == 0) throw Error(ErrorKind::data, "every sample is damaged");
      out.finish();
    } catch (const Error& error) {
      throw with_state(error, out);
    }
  }
  written.pipeline = write_pipeline(pipeline, options.folder, choice.place.stages);
  written.samples = out.set().samples();
  written.left_out = pipeline.samples() - written.samples;
  written.shards = out.set().shards.size();
  written.bytes = out.set().bytes();
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return written;
}

}  // namespace

Result prepare(const Pipeline& pipeline, const Options& asked) {
  Result result{.name = pipeline.spec().name, .folder = asked.folder};
  const auto held = shards::find_shard_set(asked.folder);
  const Options options = as_begun(asked, held);
  result.free_bytes = free_bytes_at(options.folder);
  std::vector<std::string> codecs = shards::codecs_of_this_build();
  if (!options.codec.empty()) codecs = {options.codec};
  result.places = measure_places(pipeline, codecs, options.random_too, options.stop);
  result.choice = choose(pipeline, result.places, options, result.free_bytes);
  if (options.dry_run || !result.choice) return result;
  // A set that is begun has some of its room already, and a full disk can be gone on from.
  if (!held) check_room(options, *result.choice, pipeline.samples(), result.free_bytes);
  result.written = write_all(pipeline, options, *result.choice);
  return result;
}

}  // namespace cachebisect::prepare
