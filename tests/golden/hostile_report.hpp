// A report whose texts try to break every format.
#pragma once

#include <string>

#include "golden/sample_report.hpp"

namespace cachebisect::test {

/// Quotes, markup, a formula, separators, line breaks, an escape sequence, characters that end
/// lines in some readers, and a byte that is not UTF-8.
inline const std::string kHostileText =
    "=\"a',|\\`*_{}[]<b>&lt;</script>\r\n# x\t\x1b[31m\u2028\u0085$x$ \u00e9\U0001f600\xff";

inline Report hostile_report() {
  Report report = sample_report();
  report.chain.name = kHostileText;
  report.chain.file = kHostileText;
  report.chain.device_name = kHostileText;
  report.chain.effective_json = R"({"name": "```\n</script>", "text": "{{ x }} 'y' \"z\""})";
  report.machine.cpu = kHostileText;
  report.stages[0].name = report.boundaries[1].after = std::string(10000, 'n') + kHostileText;
  report.stages[1].name = report.boundaries[2].after = kHostileText;
  report.stages[1].type = kHostileText;
  report.stages[2].name = report.boundaries[3].after = "```\n- item\n\n---\n@team #12";
  report.stages[3].name = report.boundaries[4].after = "+cmd|' /C calc'!A0";
  report.verdict.stage = report.verdict.fix_first = kHostileText;
  report.verdict.text = kHostileText + ": " + kHostileText;
  report.remedies[0].text = kHostileText;
  report.remedies[0].flags = {kHostileText};
  report.what_ifs[0].change = kHostileText;
  report.warnings.push_back({"run_failed", kHostileText, kHostileText, {kHostileText}});
  return report;
}

}  // namespace cachebisect::test
