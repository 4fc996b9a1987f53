#include "bench/truth/corpus_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "bench/truth/exhaustive.hpp"
#include "bench/truth/what_if_score.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"
#include "cachebisect/stages.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::truth {

namespace {

using selftest::PlantedChain;
using selftest::Score;

constexpr double kTruthSeconds = 30;  ///< of measuring a truth that no law gives

std::string percent(double share) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%g%%", 100 * share);
  return text.data();
}

std::string noise_of(const RunSettings& settings) {
  if (!settings.simulated) {
    const std::string mode =
        settings.device == "emulated" ? "real time" : "real time on " + settings.device;
    if (settings.hogs == 0) return mode;
    return mode + ", " + std::to_string(settings.hogs) + " hog" + (settings.hogs > 1 ? "s" : "");
  }
  const bool white = settings.noise != "none";
  return "simulated, " + settings.noise + " noise" +
         (white ? ", cv " + percent(settings.white_cv) : "") +
         (settings.meets != Circumstance::none ? std::string(", ") + to_string(settings.meets)
                                               : "");
}

std::string mode_of(const RunSettings& settings) {
  const double share = settings.draw.batch_loader_share;
  return noise_of(settings) +
         (share > 0 ? ", a batch per worker in " + percent(share) + " of the pools" : "");
}

ScoreFile new_file(const RunSettings& settings) {
  return new_score_file(to_string(settings.method), mode_of(settings), settings.budget_seconds,
                        settings.simulated ? "virtual time" : "");
}

/// If the cores that the hogs leave are too busy for the law, the truth is measured alongside them.
Report run_real(PlantedChain& planted, const RunSettings& settings,
                const std::function<Report(Replayer&)>& judge) {
  Registry registry;
  stages::register_all(registry);
  const Job job = open_job(Pipeline::from_json(pipeline_json(planted, settings.device), registry),
                           &registry, {.order_nonce = 0});
  PipelineReplayer replayer = job.make_replayer();
  Report report = judge(replayer);
  if (!leaves_cores_free(planted, planted.chain.cores - settings.hogs)) {
    selftest::Truth measured = measure_exhaustively(replayer, kTruthSeconds, planted.seed).truth;
    measured.shape = planted.truth.shape;
    measured.planted = planted.truth.planted;
    planted.truth = std::move(measured);
  }
  return report;
}

/// The scores so far, and the file that keeps them. Thread safe.
class ScoreLog {
 public:
  ScoreLog(ScoreFile file, const std::string& path,
           const std::function<void(const JudgedChain&)>& finished)
      : file_(std::move(file)), lines_(file_, path), finished_(finished) {
    for (const std::string& line : lines_.lines()) {
      file_.scores.push_back(selftest::score_of(line));
    }
  }

  [[nodiscard]] std::set<std::uint64_t> seeds() const {
    std::set<std::uint64_t> seeds;
    for (const Score& score : file_.scores) seeds.insert(score.seed);
    return seeds;
  }

  void add(const PlantedChain& planted, const Report& report) {
    const Score score = selftest::score(report, planted);
    const std::scoped_lock lock(mutex_);
    file_.scores.push_back(score);
    lines_.append(to_line(score));
    finished_({planted, report, score});
  }

  ScoreFile take() {
    std::sort(file_.scores.begin(), file_.scores.end(),
              [](const Score& a, const Score& b) { return a.seed < b.seed; });
    return std::move(file_);
  }

 private:
  ScoreFile file_;
  ScoreLines lines_;
  const std::function<void(const JudgedChain&)>& finished_;
  std::mutex mutex_;
};

}  // namespace

Report run_chain(PlantedChain& planted, const RunSettings& settings, const SimulatedNoise& noise) {
  const auto judge = [&](Replayer& replayer) {
    if (settings.method != Method::bisect) {
      const BaselineOptions options{.budget_seconds = settings.budget_seconds,
                                    .seed = planted.seed};
      return run_baseline(settings.method, replayer, options);
    }
    BisectOptions options;
    options.budget_seconds = settings.budget_seconds;
    options.sustain_seconds = 0;  // planted costs do not change with time
    options.seed = planted.seed;
    options.explain = false;
    if (settings.what_ifs) options.what_ifs = what_ifs_of(planted);
    return bisect(replayer, options);
  };
  if (!settings.simulated) return run_real(planted, settings, judge);
  SimulatedOptions machine{.seed = planted.seed, .noise = noise};
  apply(settings.meets, planted, machine);
  SimulatedReplayer replayer(planted.chain, machine);
  return judge(replayer);
}

ScoreFile run_corpus(std::uint64_t first_seed, int count, const RunSettings& settings,
                     const SimulatedNoise& noise, const std::string& resume, int threads,
                     const std::function<void(const JudgedChain&)>& finished) {
  ScoreLog log(new_file(settings), resume, finished);
  const std::set<std::uint64_t> done = log.seeds();
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
      if (done.contains(seed)) continue;
      try {
        PlantedChain planted = draw(seed, settings.draw);
        const Report report = run_chain(planted, settings, noise);
        log.add(planted, report);
      } catch (...) {
        const std::scoped_lock lock(failing);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads && settings.simulated; ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return log.take();
}

}  // namespace cachebisect::truth
