#include "cachebisect/prepare/places.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/prepare/chain_prefix.hpp"
#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/record_codec.hpp"
#include "cachebisect/shards/shard_file.hpp"

namespace cachebisect::prepare {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostSamples = 64;
constexpr std::uint64_t kLeastSamples = 4;
constexpr double kMostSeconds = 2;  ///< of the chain, and as much of the codecs

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// How many stages may lie before the samples that are stored.
std::size_t last_place(const Pipeline& pipeline, bool random_too, std::string& random) {
  for (std::size_t i = 0; i < pipeline.collate_position(); ++i) {
    if (!pipeline.stages()[i].traits.random) continue;
    random = pipeline.stages()[i].name;
    if (!random_too) return i;
  }
  return pipeline.collate_position();
}

/// Some samples of the whole set, and what all stages take for one whose file is in memory.
class Probe {
 public:
  Probe(const Pipeline& pipeline, const std::stop_token& stop) {
    ChainPrefix chain(pipeline, pipeline.collate_position());
    choose(chain, pipeline.samples(), stop);
    if (size() == 0) {
      throw Error(ErrorKind::data, "all of the samples that were tried are damaged");
    }
    const std::vector<double> before(chain.seconds().begin(), chain.seconds().end());
    for (const SampleIndex index : indices_) static_cast<void>(chain.run(index));
    seconds_.assign(chain.seconds().begin(), chain.seconds().end());
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      seconds_[i] = (seconds_[i] - before[i]) / std::max(1.0, static_cast<double>(size()));
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return indices_.size(); }
  [[nodiscard]] const std::vector<SampleIndex>& indices() const noexcept { return indices_; }
  /// What the first stages take per sample.
  [[nodiscard]] double seconds_of(std::size_t stages) const {
    return std::accumulate(seconds_.begin(), seconds_.begin() + static_cast<std::ptrdiff_t>(stages),
                           0.0);
  }

 private:
  /// Also brings files and buffers into memory: figures are of processing, not of the disk.
  void choose(ChainPrefix& chain, std::uint64_t samples, const std::stop_token& stop) {
    const std::uint64_t count = std::min(samples, kMostSamples);
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
      if (size() >= kLeastSamples && since(begin) > kMostSeconds) break;
      const SampleIndex index{i * samples / count};
      if (chain.run(index) != nullptr) indices_.push_back(index);
    }
  }

  std::vector<SampleIndex> indices_;
  std::vector<double> seconds_;  ///< of each stage, per sample
};

/// What it takes to write and to read a sample.
class CodecTrial {
 public:
  CodecTrial(const shards::PackedSample& packed, const std::string& codec)
      : packed_(packed), codec_(shards::make_codec(codec)) {}

  void run(const Sample& sample) {
    auto begin = Clock::now();
    packed_.pack(sample, record_);
    if (codec_->compresses()) codec_->compress(record_, stored_);
    const std::vector<std::byte>& stored = codec_->compresses() ? stored_ : record_;
    written_.push_back(since(begin));
    bytes_.push_back(static_cast<double>(stored.size()));
    read_copy_.resize(stored.size());
    expanded_.resize(record_.size());
    begin = Clock::now();
    std::copy(stored.begin(), stored.end(), read_copy_.begin());
    static_cast<void>(shards::checksum(read_copy_));
    const bool compresses = codec_->compresses();
    if (compresses) static_cast<void>(codec_->expand(read_copy_, expanded_));
    static_cast<void>(packed_.unpack(compresses ? expanded_ : read_copy_, out_));
    read_.push_back(since(begin));
  }

  [[nodiscard]] StoredCost cost() const {
    const double bytes = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
    return {.codec = codec_->name(),
            .bytes = bytes_.empty() ? 0 : bytes / static_cast<double>(bytes_.size()),
            .write_seconds = written_.empty() ? 0 : median(written_),
            .read_seconds = read_.empty() ? 0 : median(read_)};
  }

 private:
  const shards::PackedSample& packed_;
  std::unique_ptr<shards::RecordCodec> codec_;
  std::vector<std::byte> record_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> read_copy_;
  std::vector<std::byte> expanded_;
  Sample out_;
  std::vector<double> written_;
  std::vector<double> read_;
  std::vector<double> bytes_;
};

/// Trials of all codecs at one place.
class PlaceTrial {
 public:
  PlaceTrial(const ChainStage& link, const std::vector<std::string>& codecs)
      : packed_(std::make_unique<shards::PackedSample>(link.output)) {
    trials_.reserve(codecs.size());
    for (const std::string& codec : codecs) trials_.emplace_back(*packed_, codec);
  }

  void run(const Sample& sample) {
    for (CodecTrial& trial : trials_) trial.run(sample);
  }
  [[nodiscard]] std::vector<StoredCost> costs() const {
    std::vector<StoredCost> costs;
    for (const CodecTrial& trial : trials_) costs.push_back(trial.cost());
    return costs;
  }

 private:
  std::unique_ptr<shards::PackedSample> packed_;  ///< the trials keep references to it
  std::vector<CodecTrial> trials_;
};

void run_trials(const Pipeline& pipeline, const Probe& probe, const Places& places,
                std::vector<PlaceTrial>& trials) {
  if (places.all.empty()) return;
  ChainPrefix chain(pipeline, places.all.back().stages);
  const auto begin = Clock::now();
  std::uint64_t done = 0;
  for (const SampleIndex index : probe.indices()) {
    if (chain.run(index) == nullptr) continue;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].run(chain.output(places.all[i].stages - 1));
    }
    if (++done >= kLeastSamples && since(begin) > kMostSeconds) break;
  }
}

}  // namespace

const Place* Places::find(const std::string& after) const noexcept {
  const auto at = std::ranges::find(all, after, &Place::after);
  return at == all.end() ? nullptr : &*at;
}

Places measure_places(const Pipeline& pipeline, const std::vector<std::string>& codecs,
                      bool random_too, const std::stop_token& stop) {
  Places places{.samples = pipeline.samples()};
  const std::size_t last = last_place(pipeline, random_too, places.random);
  const Probe probe(pipeline, stop);
  places.seconds = probe.seconds_of(pipeline.collate_position());
  std::vector<PlaceTrial> trials;
  for (std::size_t stages = 1; stages <= last; ++stages) {
    const ChainStage& link = pipeline.stages()[stages - 1];
    if (link.traits.caches) continue;
    places.all.push_back(
        {.after = link.name, .stages = stages, .seconds = probe.seconds_of(stages)});
    trials.emplace_back(link, codecs);
  }
  run_trials(pipeline, probe, places, trials);
  for (std::size_t i = 0; i < trials.size(); ++i) places.all[i].stored = trials[i].costs();
  return places;
}

double gain_of(const Places& places, const Place& place, const StoredCost& stored) {
  const double then = places.seconds - place.seconds + stored.read_seconds;
  return then > 0 ? places.seconds / then - 1 : 0;
}

std::optional<Choice> best_choice(const Places& places, double free_bytes) {
  std::optional<Choice> best;
  for (const Place& place : places.all) {
    for (const StoredCost& stored : place.stored) {
      const double gain = gain_of(places, place, stored);
      const bool fits = stored.bytes * static_cast<double>(places.samples) <= free_bytes;
      if (!fits || gain < kLeastGain || (best && gain <= best->gain)) continue;
      best = Choice{.place = place, .stored = stored, .gain = gain};
    }
  }
  return best;
}

}  // namespace cachebisect::prepare
