// The terminal report: 80 columns, readable without colour.
#include <string>
#include <utility>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/report/words/job_text.hpp"
#include "cachebisect/report/words/remedy_text.hpp"
#include "cachebisect/report/words/report_document.hpp"
#include "cachebisect/report/words/what_if_text.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

Document run_heading(const Report& report) {
  const ChainDescription& chain = report.chain;
  document::Heading name{chain.name, 2};
  if (!chain.file.empty() && chain.file != chain.name) name.details.emplace_back(chain.file);
  if (chain.generated_data) name.details.emplace_back("(generated data)");
  document::Text rounds = rounds_text(report);
  if (report.interrupted) rounds += " " + document::strong("(interrupted)");
  Document all;
  all.add(std::move(name));
  all.say(job_text(chain), 2);
  all.say(rounds, 2);
  if (report.settings.order_nonce) {
    all.say("reading began at --nonce " + std::to_string(*report.settings.order_nonce));
  }
  return all;
}

Document remedies_part(const Report& report) {
  Document all;
  all.say(remedies_caution(report.remedies));
  int number = 1;
  for (const Remedy& remedy : first_remedies(report.remedies)) {
    const auto below = [&all](const std::string& line) { all.say("     " + line, 7); };
    all.say(std::to_string(number++) + ". " + as_sentence(remedy.text), 3);
    all.say("   " + as_sentence(remedy.reason), 3);
    if (const std::string gain = remedy_gain(remedy); !gain.empty()) below(gain);
    for (const std::string& flag : remedy.flags) below(flag);
    for (const Edit& edit : remedy.edits) below(edit_text(edit));
    for (const std::string& line : remedy.lines) below(line);
  }
  return all;
}

Document warnings_part(const Report& report) {
  Document all;
  for (const Warning& warning : report.warnings) {
    const std::string remedy = warning.remedy.empty() ? "" : " " + as_sentence(warning.remedy);
    all.say(document::warning("warning") + ": " + as_sentence(warning.text) + remedy, 2);
    for (const std::string& line : warning.details) all.say("    " + line, 4);
  }
  return all;
}

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  Document all = run_heading(report);
  all.gap();
  all.add(boundary_table(report));
  all.gap();
  all.say(document::strong(report.verdict.text));
  all.add(consequences_document(report));
  all.gap();
  all.add(what_if_table(report));
  all.section("Things to try", remedies_part(report));
  all.gap();
  all.add(warnings_part(report));
  if (options.explain) all.section("What the numbers mean", explained_document(report));
  return to_text(all, options);
}

}  // namespace cachebisect
