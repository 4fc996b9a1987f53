#include "commands/verdict_gate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

void VerdictGate::check() const {
  constexpr std::array<std::string_view, 5> kVerdicts{"drop", "spread", "flat", "anomaly",
                                                      "inconclusive"};
  for (const std::string& verdict : verdicts) {
    if (std::ranges::find(kVerdicts, verdict) != kVerdicts.end()) continue;
    throw Error(ErrorKind::usage, "--fail-on " + verdict +
                                      ": one or more of drop, spread, flat, anomaly, inconclusive");
  }
}

bool VerdictGate::fails(const Report& report) const {
  return std::ranges::find(verdicts, to_string(report.verdict.kind)) != verdicts.end();
}

void add_verdict_gate(CLI::App& app, VerdictGate& gate) {
  app.add_option("--fail-on", gate.verdicts,
                 "exit 5 on one of these verdicts; several are separated by commas")
      ->delimiter(',')
      ->type_name("drop|spread|flat|anomaly|inconclusive");
}

}  // namespace cachebisect::cli
