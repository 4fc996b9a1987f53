// Runs of the tool on a chain with a planted bottleneck, and ways to interrupt them.
#pragma once

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/text.hpp"

namespace cachebisect::test {

/// Waits for a log line of the second super-round: from then on there is something to keep.
inline void await_second_super_round(const std::string& log) {
  // Rounds 0 to 2 are the first one; any of the next three may be the first of the second one.
  await_text(log, [](const std::string& text) {
    return has(text, "measure, round 3") || has(text, "measure, round 4") ||
           has(text, "measure, round 5");
  });
}

/// Interrupts a run once its output has `lines` lines.
inline During interrupt_after_lines(std::ptrdiff_t lines) {
  return [lines](pid_t child, const std::string& log) {
    const std::string out = log.substr(0, log.size() - 3) + "out";
    await_text(out, [lines](const std::string& text) {
      return std::count(text.begin(), text.end(), '\n') >= lines;
    });
    kill(child, SIGINT);
  };
}

/// Arguments of a run that uses its whole budget: no verdict can be certified in it.
inline std::vector<std::string> undecided_run(const std::string& pipeline,
                                              const std::string& report,
                                              const std::string& budget_seconds,
                                              const std::string& min_drop) {
  return {"--pipeline",   pipeline,  "--budget",    budget_seconds, "--min-drop", min_drop,
          "--confidence", "0.99999", "--log-level", "debug",        "--json",     report};
}

/// A chain on the emulated device whose stage "slow" costs most: `slow_us` per sample, next to a
/// step of 125 us per sample.
inline std::string starved_pipeline(int slow_us = 250) {
  return R"({
    "name": "starved", "batch_size": 16, "workers": 1, "shuffle": false,
    "stages": [
      {"use": "synthetic.read", "bytes": 1024, "samples": 100000},
      {"use": "synthetic.wait", "name": "slow", "us": )" +
         std::to_string(slow_us) + R"(},
      {"use": "collate.stack"},
      {"use": "copy.device", "prefetch": 2}
    ],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 2}
  })";
}

}  // namespace cachebisect::test
