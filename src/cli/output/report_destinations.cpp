#include "output/report_destinations.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cachebisect/report/writers/formats.hpp"

namespace cachebisect::cli {

bool ReportDestinations::uses_stdout() const {
  return format != "text" ||
         std::ranges::any_of(files, [](const auto& file) { return file.second == "-"; });
}

void add_report_destinations(CLI::App& app, ReportDestinations& to) {
  for (const ReportFormat& format : report_formats()) {
    if (format.option.empty()) continue;
    const std::string option(format.option);
    app.add_option(option, to.files[option], std::string(format.help))->type_name("FILE");
  }
  app.add_option("--out", to.out, "write every file format into this folder")->type_name("DIR");
  app.add_option("--append", to.append, "add a line about this run to a history (see history)")
      ->type_name("FILE");
  app.add_flag("--explain", to.explain_numbers,
               "after the report, as text or Markdown, say what each of its numbers means");
  app.add_option("--format", to.format,
                 "of the report on standard output: text, or markdown to paste into an issue")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "markdown"}));
  app.add_flag("--quiet", to.quiet, "no report on standard output");
  app.add_option("--color", to.color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
}

}  // namespace cachebisect::cli
