// Planted chains in real time: can verdicts be trusted on this machine?
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/score.hpp"
#include "cachebisect/selftest/summary.hpp"

namespace cachebisect::selftest {

struct Options {
  int cases = 20;
  std::uint64_t seed = 1;                        ///< of the first chain; the others follow
  std::string device = "emulated";               ///< or cuda[:N]
  double budget_seconds = 30;                    ///< of measuring, per chain
  std::function<void(const Score&)> finished{};  ///< after each chain
  /// Called while a chain (0-based) is measured.
  std::function<void(int chain, const Progress&)> progress{};
  std::stop_token stop{};
};

struct CACHEBISECT_INTERNAL_API Result {
  Options options;
  std::vector<Score> scores;
  bool interrupted = false;
  /// True if any verdict is wrong.
  [[nodiscard]] bool any_wrong() const;
};

/// Draws chains for the cores of this machine, runs each on the device and scores the verdict.
/// `registry` must hold the synthetic stages. On a stop the chain being measured is left out.
/// Throws Error(usage) for options out of range, and what require_device() and a run throw.
CACHEBISECT_INTERNAL_API Result run(const Options& options, const Registry& registry);

/// Throws Error(usage) for a name that is neither "emulated" nor "cuda[:N]", and Error(device) if
/// there is no such device.
CACHEBISECT_INTERNAL_API void require_device(const std::string& name);
/// Options that plant nothing in the copy of a CUDA device, which is a real one.
CACHEBISECT_INTERNAL_API DrawOptions for_device(DrawOptions options, const std::string& name);

/// The report on one planted chain, by the real executor on the device of this name.
CACHEBISECT_INTERNAL_API Report bisect_planted(const PlantedChain& planted,
                                               const BisectOptions& options,
                                               const Registry& registry,
                                               const std::string& device = "emulated");

/// Writes the result as one indented JSON object that ends in a newline.
CACHEBISECT_INTERNAL_API void write_json(const Result& result, std::ostream& out);

}  // namespace cachebisect::selftest
