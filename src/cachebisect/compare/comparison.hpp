// Two jobs side by side, as one plain struct (docs/use/compare.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class FigureUnit { samples_per_second, share, seconds_per_sample };

/// What the interval of a change says. unknown: there is none; none: it contains zero.
enum class ChangeKind { unknown, none, higher, lower };
CACHEBISECT_API const char* to_string(ChangeKind kind) noexcept;

struct ComparedFigure {
  std::string id;     ///< "live", "loss", "stages.crop.seconds": the name in a gate
  std::string stage;  ///< empty: of the whole job
  FigureUnit unit = FigureUnit::samples_per_second;
  Estimate a;
  Estimate b;
  /// From a to b. Shares: their difference; other figures: b / a - 1.
  Estimate change;

  [[nodiscard]] CACHEBISECT_API ChangeKind kind() const noexcept;
};

/// One of the two jobs.
struct ComparedJob {
  std::string source;  ///< the file that it came from
  std::string pipeline;
  std::string device;
  std::int64_t batch_size = 1;
  int workers = 0;
  std::string started;  ///< ISO 8601, UTC
  std::string verdict;  ///< its sentence; empty if it was not bisected
};

enum class GateOutcome { passed, fired, undecided };
CACHEBISECT_API const char* to_string(GateOutcome outcome) noexcept;

struct GateResult {
  std::string gate;  ///< as it was given: "live<-5%"
  GateOutcome outcome = GateOutcome::undecided;
  std::string reason;
};

struct Comparison {
  ComparedJob a;
  ComparedJob b;
  bool paired = false;  ///< measured in turns in one session
  int rounds = 0;       ///< paired only: pairs of blocks
  double seconds = 0;   ///< paired only: of measuring
  double confidence = 0.99;
  std::vector<std::string> mismatches;  ///< why the two are not comparable; empty unless forced
  std::vector<std::string> notes;       ///< what else differs
  std::vector<std::string> noise;       ///< warnings about the machine, "A: other_load"
  std::vector<ComparedFigure> figures;
  std::vector<std::string> findings;
  std::vector<GateResult> gates;

  [[nodiscard]] CACHEBISECT_API bool fails() const noexcept;
};

}  // namespace cachebisect
