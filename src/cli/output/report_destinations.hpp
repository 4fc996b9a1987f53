// Where a report goes, as typed: options of every command that ends with one.
#pragma once

#include <map>
#include <string>

namespace CLI {
class App;
}

namespace cachebisect::cli {

struct ReportDestinations {
  std::map<std::string, std::string> files;  ///< by option of a report format: FILE
  std::string out;
  std::string append;
  bool explain_numbers = false;  ///< --explain
  std::string format = "text";   ///< of the report on standard output: text or markdown
  bool quiet = false;
  std::string color = "auto";

  /// True if standard output gets more than the terminal report.
  [[nodiscard]] bool uses_stdout() const;
};

void add_report_destinations(CLI::App& app, ReportDestinations& to);

}  // namespace cachebisect::cli
