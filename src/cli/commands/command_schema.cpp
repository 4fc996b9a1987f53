#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect::cli {
namespace {

std::string schema_of(const std::string& which) {
  if (which == "report") return report_schema();
  if (which == "messages") return messages_schema();
  return pipeline_schema(make_registry({}));
}

}  // namespace

Command add_schema(CLI::App& app) {
  auto which = std::make_shared<std::string>();
  app.add_option("WHICH", *which, "pipeline, report, or messages: of adapters")
      ->required()
      ->check(CLI::IsMember({"pipeline", "report", "messages"}));
  return [which] {
    std::cout << schema_of(*which);
    return 0;
  };
}

}  // namespace cachebisect::cli
