#include "bench/truth/contention.hpp"

#include <algorithm>
#include <sstream>

#include "cachebisect/base/random.hpp"

namespace cachebisect::truth {
namespace {

constexpr double kModelStepSeconds = 2e-3;  ///< about a step of a small network

SimulatedStage stage(std::string name, Category category, CostKind kind, double seconds) {
  SimulatedStage result;
  result.name = std::move(name);
  result.category = category;
  result.kind = kind;
  result.seconds = seconds;
  return result;
}

/// Adds stages with small costs, and one that starves the step or only takes its cores.
void plant(RandomStream& random, double step_seconds, SimulatedChain& chain) {
  const double room =
      step_seconds * static_cast<double>(chain.workers) / static_cast<double>(chain.batch_size);
  const std::size_t count = 1 + random.below(3);
  const std::size_t large = random.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CostKind kind = i == large || random.below(2) == 0 ? CostKind::cpu : CostKind::wait;
    const double share = i == large ? random.uniform(0.2, 2.0) : random.uniform(0.01, 0.1);
    chain.stages.push_back(stage(std::string(to_string(kind)) + "_" + std::to_string(i + 1),
                                 Category::synthetic, kind, share * room));
  }
}

std::string write_json(const ContentionChain& drawn) {
  const SimulatedChain& chain = drawn.planted.chain;
  std::ostringstream out;
  out << R"({"name": "contention-)" << drawn.planted.seed << R"(", "batch_size": )"
      << chain.batch_size << R"(, "workers": )" << chain.workers
      << R"(, "shuffle": false, "device": "cpu", "stages": [)";
  out << (drawn.model
              ? R"({"use": "read.mnist", "path": "${cache}/mnist", "if_missing": "generate"},
                           {"use": "decode.mnist"}, {"use": "augment.to_float"},)"
              : R"({"use": "synthetic.read", "bytes": 64, "samples": 100000},)");
  for (const SimulatedStage& s : chain.stages) {
    if (s.category != Category::synthetic) continue;
    out << R"({"use": "synthetic.)" << to_string(s.kind) << R"(", "name": ")" << s.name
        << R"(", "us": )" << 1e6 * s.seconds << "},";
  }
  out << R"({"use": "collate.stack"}, {"use": "copy.device"}], "train": )";
  if (drawn.model) {
    out << R"({"model": "mlp", "classes": 10, "threads": )" << drawn.threads << "}}";
  } else {
    out << R"({"kind": "callback"}})";
  }
  return out.str();
}

}  // namespace

ContentionChain draw_contention(std::uint64_t seed, int cores, bool model) {
  RandomStream random({.seed = seed, .stage = hash_name("contention")});
  ContentionChain drawn;
  drawn.model = model;
  drawn.threads = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(cores)));
  drawn.step_seconds = model ? kModelStepSeconds : random.uniform(2e-3, 6e-3);
  drawn.planted.seed = seed;
  SimulatedChain& chain = drawn.planted.chain;
  chain.batch_size = 16;
  chain.workers = std::max(1, cores - drawn.threads + 1) + static_cast<int>(random.below(2));
  chain.cores = cores;
  chain.device_is_host = true;
  chain.trainer_seconds = drawn.step_seconds;
  chain.stages.push_back(stage("read", Category::read, CostKind::payload, 0));
  if (model) {
    chain.stages.push_back(stage("decode", Category::decode, CostKind::cpu, 0));
    chain.stages.push_back(stage("to_float", Category::augment, CostKind::cpu, 0));
  }
  plant(random, drawn.step_seconds, chain);
  drawn.json = write_json(drawn);
  return drawn;
}

}  // namespace cachebisect::truth
