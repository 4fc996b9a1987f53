// The report as one page of Markdown, made to be pasted into an issue or a prompt.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/markdown_table.hpp"
#include "cachebisect/format/markdown_text.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/report/words/boundary_rows.hpp"
#include "cachebisect/report/words/explained_numbers.hpp"
#include "cachebisect/report/words/reading_text.hpp"
#include "cachebisect/report/words/remedy_text.hpp"
#include "cachebisect/report/words/text_consequences.hpp"
#include "cachebisect/report/words/what_if_text.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/report/writers/markdown_run.hpp"

namespace cachebisect {
namespace {

std::string verdict(const Report& report) {
  std::string text = "**" + markdown_text(report.verdict.text) + "**\n";
  if (report.interrupted) text += "\nThe run was interrupted; these are the figures until then.\n";
  for (const std::string& sentence : consequences(report)) {
    text += '\n' + markdown_text(sentence) + '\n';
  }
  return text;
}

std::string boundaries(const Report& report) {
  MarkdownTable table({{"stages live", Align::left},
                       {"samples/s", Align::right},
                       {format_percent(report.settings.confidence) + " interval", Align::right},
                       {"of ceiling", Align::right},
                       {"lost here", Align::right},
                       {"note", Align::left}});
  const auto share = [](const std::optional<double>& value) {
    return value ? format_percent(*value) : "";
  };
  for (const BoundaryRow& row : boundary_rows(report)) {
    if (row.rate) {
      table.add({row.label, format_rate(*row.rate, row.interval), rate_interval(*row.interval),
                 share(row.share), share(row.drop), row.note});
    } else {
      table.add({row.label, "-", "too few rounds", "", "", ""});
    }
  }
  const std::string reading = reading_text(report);
  return table.to_text() + (reading.empty() ? "" : "\nReading takes " + reading + ".\n");
}

std::string stages(const Report& report) {
  MarkdownTable table({{"stage", Align::left},
                       {"type", Align::left},
                       {"CPU per sample", Align::right},
                       {"waiting per sample", Align::right},
                       {"of the workers' time", Align::right},
                       {"output per sample", Align::right},
                       {"samples/s with it alone free", Align::right}});
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? short_duration(*seconds) : "-";
  };
  for (const StageReport& stage : report.stages) {
    table.add({stage.name, stage.type, time(stage.cpu_seconds_per_sample),
               time(stage.wait_seconds_per_sample),
               stage.busy_share ? format_percent(*stage.busy_share) : "-",
               stage.output_bytes ? format_bytes(*stage.output_bytes) : "-",
               rate_with_interval(stage.payoff)});
  }
  return table.to_text();
}

/// Changes whose effect was predicted or measured in this run.
std::string tried(const Report& report) {
  MarkdownTable table({{"change", Align::left},
                       {"samples/s predicted", Align::right},
                       {"samples/s measured", Align::right},
                       {"so", Align::left}});
  for (const WhatIfResult& what_if : report.what_ifs) {
    const std::string gain = what_if_gain(what_if, report.live);
    const bool both = !gain.empty() && !what_if.note.empty();
    table.add({what_if.change, rate_with_interval(what_if.predicted),
               rate_with_interval(what_if.measured), gain + (both ? "; " : "") + what_if.note});
  }
  return table.to_text();
}

/// Lines of a list item begin at its text.
std::string indented(std::string_view block) {
  std::string text;
  while (!block.empty()) {
    const std::size_t end = block.find('\n') + 1;
    text += "   " + std::string(block.substr(0, end));
    block.remove_prefix(end);
  }
  return text;
}

std::string lines_of(const Remedy& remedy) {
  std::string lines;
  for (const std::string& flag : remedy.flags) lines += flag + '\n';
  for (const Edit& edit : remedy.edits) lines += edit_text(edit) + '\n';
  for (const std::string& line : remedy.lines) lines += line + '\n';
  return lines;
}

std::string remedies(const Report& report) {
  std::string text = markdown_text(remedies_caution(report.remedies));
  if (!text.empty()) text += "\n\n";
  int number = 1;
  for (const Remedy& remedy : report.remedies) {
    const std::string gain = remedy_gain(remedy);
    text += std::to_string(number++) + ". " + markdown_text(as_sentence(remedy.text)) + ' ' +
            markdown_text(as_sentence(remedy.reason)) +
            (gain.empty() ? "" : " " + markdown_text(as_sentence(gain))) + '\n';
    const std::string lines = lines_of(remedy);
    if (!lines.empty()) text += '\n' + indented(markdown_code_block(lines, ""));
  }
  return text;
}

std::string warnings(const Report& report) {
  std::string text;
  for (const Warning& warning : report.warnings) {
    text += "- " + markdown_text(warning.code) + ": " + markdown_text(as_sentence(warning.text));
    if (!warning.remedy.empty()) text += ' ' + markdown_text(as_sentence(warning.remedy));
    text += '\n';
    std::string details;
    for (const std::string& line : warning.details) details += line + '\n';
    if (!details.empty()) text += '\n' + indented(markdown_code_block(details, ""));
  }
  return text;
}

std::string explained(const Report& report, const MarkdownOptions& options) {
  if (!options.explain) return "";
  std::string text;
  for (const ExplainedNumber& number : explain_numbers(report)) {
    text += "- **" + markdown_text(number.number) + "**: " + markdown_text(number.meaning) + '\n';
  }
  const std::string missing = explain_missing(report);
  return missing.empty() ? text : text + '\n' + markdown_text(missing) + '\n';
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : std::string("\n### ") + title + "\n\n" + body;
}

}  // namespace

std::string to_markdown(const Report& report, const MarkdownOptions& options) {
  const std::string table = boundaries(report);
  return "## Input pipeline " + markdown_text(report.chain.name) + "\n\n" + verdict(report) +
         (table.empty() ? "" : "\n" + table) + section("Stages, live", stages(report)) +
         section("What was tried", tried(report)) + section("Things to try", remedies(report)) +
         section("Warnings", warnings(report)) +
         section("What the numbers mean", explained(report, options)) +
         section("What was run", markdown_run(report)) +
         section("The pipeline with its defaults", markdown_pipeline(report));
}

}  // namespace cachebisect
