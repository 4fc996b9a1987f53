// --fail-on: the verdicts that make a command exit with 5.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/bisect/report/report.hpp"

namespace CLI {
class App;
}

namespace cachebisect::cli {

struct VerdictGate {
  std::vector<std::string> verdicts;

  /// Throws Error(usage) for what is no verdict.
  void check() const;
  [[nodiscard]] bool fails(const Report& report) const;
};

void add_verdict_gate(CLI::App& app, VerdictGate& gate);

}  // namespace cachebisect::cli
