// Loader throughput of any pipeline without a training step, next to its kernels alone on one core.
//
//   loader PIPELINE [--workers 1,2] [--seconds S] [--rounds R] [--set PATH=VALUE]...
//          [--no-kernels] [--kernel-batches N] [--first FILE] [--only-first]
//
// The kernels write to N batches in turn: to one, or to as many as the loader has. Rounds
// interleave the configurations, so that drift affects all alike. A line gives medians over rounds:
// samples/s, samples per CPU second, and the share of N kernel loops. --first writes the fields of
// the first batch, one after the other, as raw bytes; with --only-first the program ends then.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/sampler.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;  // NOLINT(google-build-using-namespace): a program of one file

struct Arguments {
  std::string file;
  std::vector<int> workers{1, 2};
  double seconds = 1.5;
  int rounds = 5;
  bool kernels = true;
  int kernel_batches = 1;
  std::string first;
  bool only_first = false;
  std::vector<SpecOverride> overrides;
};

struct Rate {
  double per_second = 0;
  double per_cpu_second = 0;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) throw Error(ErrorKind::usage, word + " needs a value");
      return argv[i];
    };
    if (word == "--workers") {
      arguments.workers.clear();
      std::istringstream list(value());
      for (std::string number; std::getline(list, number, ',');)
        arguments.workers.push_back(std::atoi(number.c_str()));
    } else if (word == "--seconds") {
      arguments.seconds = std::atof(value().c_str());
    } else if (word == "--rounds") {
      arguments.rounds = std::atoi(value().c_str());
    } else if (word == "--no-kernels") {
      arguments.kernels = false;
    } else if (word == "--kernel-batches") {
      arguments.kernel_batches = std::atoi(value().c_str());
    } else if (word == "--first") {
      arguments.first = value();
    } else if (word == "--only-first") {
      arguments.only_first = true;
    } else if (word == "--set") {
      const std::string set = value();
      arguments.overrides.push_back({set.substr(0, set.find('=')), set.substr(set.find('=') + 1)});
    } else {
      arguments.file = word;
    }
  }
  if (arguments.file.empty())
    throw Error(ErrorKind::usage, "loader PIPELINE [--workers 1,2] [--seconds S]");
  return arguments;
}

Rate rate_of(std::uint64_t samples, double seconds, double cpu_seconds) {
  return {static_cast<double>(samples) / seconds, static_cast<double>(samples) / cpu_seconds};
}

/// Source and sample stages in a plain loop on this thread; the last stage writes into a batch row.
class KernelLoop {
 public:
  KernelLoop(const Pipeline& pipeline, int batches)
      : pipeline_(pipeline), samples_(pipeline.collate_position()) {
    const BatchSpec& spec = pipeline.stages()[pipeline.collate_position()].output;
    for (int b = 0; b < std::max(1, batches); ++b) {
      OwnedHostBatch& batch = batches_.emplace_back(host_memory());
      for (std::size_t f = 0; f < spec.size(); ++f) {
        batch.resize_field(f, spec[f].name, spec[f].dtype, spec[f].shape);
      }
    }
  }

  Rate run(double seconds) {
    const Sampler sampler(pipeline_.samples(), pipeline_.spec().seed, pipeline_.spec().shuffle);
    const double cpu = thread_cpu_seconds();
    const double begin = monotonic_seconds();
    std::uint64_t done = 0;
    const auto size = static_cast<std::uint64_t>(pipeline_.batch_size());
    while (monotonic_seconds() < begin + seconds) {
      one(sampler.index(0, position_++ % pipeline_.samples()),
          batches_[done / size % batches_.size()].batch, static_cast<std::int64_t>(done % size));
      ++done;
    }
    return rate_of(done, monotonic_seconds() - begin, thread_cpu_seconds() - cpu);
  }

 private:
  void one(SampleIndex index, const HostBatch& batch, std::int64_t row) {
    const auto context = [&](std::size_t stage) {
      return SampleContext({pipeline_.spec().seed, 0, index, pipeline_.stages()[stage].random_key},
                           arena_);
    };
    arena_.reset();
    samples_[0].set_index(index);
    pipeline_.source().read(samples_[0], context(0));
    for (std::size_t s = 1; s < samples_.size(); ++s) {
      samples_[s].begin_from(samples_[s - 1]);
      if (s + 1 == samples_.size()) attach(samples_[s], batch, row);
      const auto& stage = static_cast<const SampleStage&>(*pipeline_.stages()[s].stage);
      arena_.reset();
      stage.process(samples_[s - 1], samples_[s], context(s));
    }
    collect(batch, row);
  }

  void attach(Sample& sample, const HostBatch& batch, std::int64_t row) {
    const BatchSpec& spec = pipeline_.stages()[pipeline_.collate_position()].output;
    for (std::size_t f = 0; f < spec.size(); ++f) {
      sample.field(spec[f].name)
          .attach(pipeline_.collate().row(spec[f], batch.fields[f].tensor.data, row));
    }
  }

  void collect(const HostBatch& batch, std::int64_t row) {
    const BatchSpec& spec = pipeline_.stages()[pipeline_.collate_position()].output;
    for (std::size_t f = 0; f < spec.size(); ++f) {
      const TensorView to = pipeline_.collate().row(spec[f], batch.fields[f].tensor.data, row);
      const Field& from = samples_.back().field(spec[f].name);
      if (from.data() != to.data) copy_tensor(from.view(), to);
    }
  }

  const Pipeline& pipeline_;
  std::vector<Sample> samples_;
  std::vector<OwnedHostBatch> batches_;
  Arena arena_;
  std::uint64_t position_ = 0;
};

/// An executor that is kept between runs, as in a training job.
class LoaderLoop {
 public:
  LoaderLoop(const Pipeline& pipeline, Device& device, int workers)
      : executor_(pipeline, device,
                  {.workers = workers,
                   .prefetch = pipeline.spec().prefetch,
                   .loader = pipeline.spec().loader}) {
    LoadRequest request;
    request.observe = false;
    executor_.start(request);
    run(0.2);
  }

  Rate run(double seconds) {
    const double cpu = process_cpu_seconds();
    const double begin = monotonic_seconds();
    std::uint64_t samples = 0;
    while (monotonic_seconds() < begin + seconds) {
      const ReadyBatch batch = executor_.next({});
      samples += static_cast<std::uint64_t>(batch.batch->size);
      executor_.release(batch, nullptr);
    }
    return rate_of(samples, monotonic_seconds() - begin, process_cpu_seconds() - cpu);
  }

  Executor& executor() { return executor_; }

 private:
  Executor executor_;
};

/// `path`: empty: nothing is written.
void load_first_batch(const Pipeline& pipeline, Device& device, int workers,
                      const std::string& path) {
  Executor executor(pipeline, device, {.workers = workers});
  executor.start({});
  const ReadyBatch ready = executor.next({});
  if (path.empty()) return executor.release(ready, nullptr);
  std::ofstream file(path, std::ios::binary);
  for (const BatchField& field : ready.batch->fields) {
    file.write(reinterpret_cast<const char*>(field.tensor.data),
               static_cast<std::streamsize>(field.tensor.byte_size()));
  }
  executor.release(ready, nullptr);
  if (!file.flush()) throw Error(ErrorKind::output, path + ": cannot be written");
}

double median_of(const std::vector<Rate>& rates, double Rate::*part) {
  std::vector<double> values;
  for (const Rate& rate : rates) values.push_back(rate.*part);
  return median(values);
}

void print(const char* name, const std::vector<Rate>& rates, const std::vector<double>& shares) {
  const auto [low, high] =
      std::minmax_element(rates.begin(), rates.end(),
                          [](const Rate& a, const Rate& b) { return a.per_second < b.per_second; });
  std::printf("%-10s %10.0f samples/s (%.0f..%.0f) %10.0f per CPU second", name,
              median_of(rates, &Rate::per_second), low->per_second, high->per_second,
              median_of(rates, &Rate::per_cpu_second));
  if (!shares.empty()) std::printf("  %5.1f%% of the kernel loops", 100 * median(shares));
  std::printf("\n");
}

int measure(const Arguments& arguments) {
  Registry registry;
  stages::register_all(registry);
  const Pipeline pipeline =
      Pipeline::from_spec(load_pipeline(arguments.file, registry, arguments.overrides), registry);
  const std::unique_ptr<Device> device = make_cpu_device();
  if (!arguments.first.empty() || arguments.only_first) {
    const int workers = arguments.workers.empty() ? 1 : arguments.workers.front();
    load_first_batch(pipeline, *device, workers, arguments.first);
  }
  if (arguments.only_first) return 0;
  std::optional<KernelLoop> kernel;
  if (arguments.kernels) kernel.emplace(pipeline, arguments.kernel_batches).run(0.2);
  std::vector<Rate> kernel_rates;
  std::vector<std::vector<Rate>> rates(arguments.workers.size());
  std::vector<std::vector<double>> shares(arguments.workers.size());
  for (int round = 0; round < arguments.rounds; ++round) {
    if (kernel) kernel_rates.push_back(kernel->run(arguments.seconds));
    for (std::size_t i = 0; i < rates.size(); ++i) {
      LoaderLoop loader(pipeline, *device, arguments.workers[i]);
      rates[i].push_back(loader.run(arguments.seconds));
      if (!kernel) continue;
      shares[i].push_back(rates[i].back().per_second /
                          (std::max(1, arguments.workers[i]) * kernel_rates.back().per_second));
    }
  }
  std::printf("%s: batch %lld, %d rounds of %.1f s\n", pipeline.spec().name.c_str(),
              static_cast<long long>(pipeline.batch_size()), arguments.rounds, arguments.seconds);
  if (kernel) print("kernels", kernel_rates, {});
  for (std::size_t i = 0; i < rates.size(); ++i) {
    print(("workers " + std::to_string(arguments.workers[i])).c_str(), rates[i], shares[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(parse(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "loader: %s\n", error.what());
    return exit_code(error.kind());
  }
}
