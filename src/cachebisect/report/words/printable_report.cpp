#include "cachebisect/report/words/printable_report.hpp"

#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

template <class... Texts>
void clean(Texts&... texts) {
  ((texts = printable(texts)), ...);
}

void clean_all(std::vector<std::string>& texts) {
  for (std::string& text : texts) clean(text);
}

void clean_remedy(Remedy& remedy) {
  clean(remedy.stage, remedy.text, remedy.reason);
  clean_all(remedy.flags);
  for (Edit& edit : remedy.edits) clean(edit.path, edit.value);
  clean_all(remedy.lines);
}

}  // namespace

Report printable_report(Report report) {
  ChainDescription& chain = report.chain;
  clean(chain.name, chain.file, chain.device_name, chain.train);
  Verdict& verdict = report.verdict;
  clean(verdict.stage, verdict.span, verdict.fix_first, verdict.text, report.next_stage);
  clean_all(verdict.tied_with);
  clean_all(verdict.shares);
  for (BoundaryReport& boundary : report.boundaries) clean(boundary.after);
  for (StageReport& stage : report.stages) clean(stage.name, stage.type, stage.span);
  for (SpanReport& span : report.spans) clean(span.name);
  for (Remedy& remedy : report.remedies) clean_remedy(remedy);
  for (WhatIfResult& what_if : report.what_ifs) clean(what_if.change, what_if.line, what_if.note);
  for (StepFunction& function : report.step_functions) clean(function.name, function.file);
  for (Warning& warning : report.warnings) {
    clean(warning.text, warning.remedy);
    clean_all(warning.details);
  }
  return report;
}

}  // namespace cachebisect
