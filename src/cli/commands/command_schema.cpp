#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect::cli {

Command add_schema(CLI::App& app) {
  auto which = std::make_shared<std::string>();
  app.add_option("WHICH", *which, "pipeline or report")
      ->required()
      ->check(CLI::IsMember({"pipeline", "report"}));
  return [which] {
    std::cout << (*which == "report" ? report_schema() : pipeline_schema(make_registry({})));
    return 0;
  };
}

}  // namespace cachebisect::cli
