#include <iomanip>
#include <locale>
#include <sstream>

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::selftest {
namespace {

void write_jitter(std::ostream& out, const Jitter& jitter) {
  if (jitter.kind == Jitter::Kind::none || jitter.cv <= 0) return;
  out << R"(, "jitter": {"kind": ")"
      << (jitter.kind == Jitter::Kind::pareto ? "pareto" : "lognormal") << R"(", "cv": )"
      << jitter.cv << "}";
}

void write_stage(std::ostream& out, const SimulatedStage& stage) {
  if (stage.kind == CostKind::memory) {
    throw Error(ErrorKind::usage,
                "a memory stage is given in bytes; how long they take depends on the machine");
  }
  out << R"(    {"use": "synthetic.)" << cachebisect::to_string(stage.kind) << R"(", "name": ")"
      << stage.name << R"(", )";
  if (stage.kind == CostKind::payload) {
    out << R"("bytes": )" << static_cast<std::int64_t>(stage.bytes - kLabelBytes);
  } else {
    out << R"("us": )" << 1e6 * stage.seconds;
    write_jitter(out, stage.jitter);
  }
  out << "},\n";
}

}  // namespace

std::string pipeline_json(const PlantedChain& planted, const std::string& device) {
  const SimulatedChain& chain = planted.chain;
  if (chain.collate_seconds > 0 || chain.trainer_seconds > 0) {
    throw Error(ErrorKind::usage,
                "the costs of collate and of the training thread depend on the machine");
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::setprecision(12);
  out << R"({"name": "planted-)" << planted.seed << R"(", "seed": )" << planted.seed
      << R"(, "batch_size": )" << chain.batch_size << R"(, "workers": )" << chain.workers
      << R"(, "prefetch": )" << chain.ring_prefetch << R"(, "loader": ")"
      << cachebisect::to_string(chain.loader) << "\", \"shuffle\": false,\n  \"stages\": [\n"
      << R"(    {"use": "synthetic.read", "name": "read", "bytes": )"
      << static_cast<std::int64_t>(chain.source_bytes - kLabelBytes) << R"(, "samples": )"
      << chain.samples << "},\n";
  for (std::size_t s = 1; s < chain.stages.size(); ++s) write_stage(out, chain.stages[s]);
  out << "    {\"use\": \"collate.stack\"},\n"
      << R"(    {"use": "copy.device", "pinned": true, "non_blocking": )"
      << (chain.copy_non_blocking ? "true" : "false") << R"(, "prefetch": )" << chain.copy_prefetch
      << "}\n  ],\n"
      << R"(  "train": {"kind": "emulated"}, "device": ")" << device << "\",\n"
      << R"(  "emulate": {"step_ms": )" << 1e3 * chain.step_seconds << R"(, "copy_gb_per_s": )"
      << 1e-9 * chain.copy_bytes_per_second << R"(, "copy_latency_us": )"
      << 1e6 * chain.copy_latency_seconds << "}\n}\n";
  return out.str();
}

}  // namespace cachebisect::selftest
