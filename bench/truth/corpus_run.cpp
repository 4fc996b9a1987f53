#include "bench/truth/corpus_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "bench/truth/exhaustive.hpp"
#include "bench/truth/what_if_score.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"
#include "cachebisect/stages.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::truth {

/// The first line of a file of scores.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreFile, method, mode, budget_seconds, machine, date, git)

namespace {

using Json = nlohmann::json;
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
    if (settings.hogs == 0) return "real time";
    return "real time, " + std::to_string(settings.hogs) + " hog" + (settings.hogs > 1 ? "s" : "");
  }
  const bool white = settings.noise != "none";
  return "simulated, " + settings.noise + " noise" +
         (white ? ", cv " + percent(settings.white_cv) : "");
}

std::string mode_of(const RunSettings& settings) {
  const double share = settings.draw.batch_loader_share;
  return noise_of(settings) +
         (share > 0 ? ", a batch per worker in " + percent(share) + " of the pools" : "");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string machine_of(const RunSettings& settings) {
  const MachineInfo machine = probe_machine();
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s, %g usable CPUs", machine.cpu.c_str(),
                machine.usable_cpus);
  return settings.simulated ? "virtual time" : text.data();
}

ScoreFile new_file(const RunSettings& settings) {
  return {.method = to_string(settings.method),
          .mode = mode_of(settings),
          .budget_seconds = settings.budget_seconds,
          .machine = machine_of(settings),
          .date = today(),
          .git = git_revision(),
          .scores = {}};
}

/// If the cores that the hogs leave are too busy for the law, the truth is measured alongside them.
Report run_real(PlantedChain& planted, const RunSettings& settings,
                const std::function<Report(Replayer&)>& judge) {
  Registry registry;
  stages::register_all(registry);
  const Job job = open_job(Pipeline::from_json(pipeline_json(planted), registry), &registry);
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
      : file_(std::move(file)), finished_(finished) {
    if (path.empty()) return;
    const bool fresh = !std::filesystem::exists(path) || std::filesystem::file_size(path) == 0;
    if (!fresh) resume(path);
    out_.open(path, std::ios::app);
    if (fresh) out_ << Json(file_).dump() << '\n';
    if (!out_.flush()) throw Error(ErrorKind::output, "cannot write " + path);
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
    if (out_.is_open() && !(out_ << to_line(score) << '\n').flush()) {
      throw Error(ErrorKind::output, "cannot write the file of scores");
    }
    finished_({planted, report, score});
  }

  ScoreFile take() {
    std::sort(file_.scores.begin(), file_.scores.end(),
              [](const Score& a, const Score& b) { return a.seed < b.seed; });
    return std::move(file_);
  }

 private:
  void resume(const std::string& path) {
    ScoreFile before = load_scores(path);
    if (before.method != file_.method || before.mode != file_.mode ||
        before.budget_seconds != file_.budget_seconds) {
      throw Error(ErrorKind::usage, path + " holds scores of " + before.method + ", " +
                                        before.mode + ", not of this run; use another file");
    }
    file_.scores = std::move(before.scores);
  }

  ScoreFile file_;
  std::ofstream out_;
  const std::function<void(const JudgedChain&)>& finished_;
  std::mutex mutex_;
};

}  // namespace

ScoreFile load_scores(const std::string& file) {
  std::ifstream in(file);
  ScoreFile result;
  std::string line;
  if (!std::getline(in, line)) throw Error(ErrorKind::usage, file + ": no scores");
  try {
    Json::parse(line).get_to(result);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, file + ": not a file of scores: " + error.what());
  }
  while (std::getline(in, line)) {
    // The last line is cut if the run was killed while it wrote.
    if (!line.ends_with('}')) continue;
    result.scores.push_back(selftest::score_of(line));
  }
  return result;
}

Report run_chain(PlantedChain& planted, const RunSettings& settings, const SimulatedNoise& noise) {
  const auto judge = [&](Replayer& replayer) {
    if (settings.method != Method::bisect) {
      const BaselineOptions options{.budget_seconds = settings.budget_seconds,
                                    .seed = planted.seed};
      return run_baseline(settings.method, replayer, options);
    }
    BisectOptions options;
    options.budget_seconds = settings.budget_seconds;
    options.seed = planted.seed;
    options.explain = false;
    if (settings.what_ifs) options.what_ifs = what_ifs_of(planted);
    return bisect(replayer, options);
  };
  if (!settings.simulated) return run_real(planted, settings, judge);
  SimulatedReplayer replayer(planted.chain, {.seed = planted.seed, .noise = noise});
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
