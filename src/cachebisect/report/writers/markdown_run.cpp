#include "cachebisect/report/writers/markdown_run.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/report/words/job_text.hpp"

namespace cachebisect {
namespace {

/// Parts of a sentence, those that are not empty separated by commas.
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string with_name(const char* name, const std::optional<double>& share) {
  return share ? name + format_percent(*share) : "";
}

std::string pipeline_text(const ChainDescription& chain) {
  return listed({chain.name, chain.file == chain.name ? "" : chain.file,
                 chain.generated_data ? "generated data" : ""});
}

std::string tool_text() {
  const std::string revision = git_revision();
  return std::string("cachebisect ") + version() + (revision.empty() ? "" : ", " + revision);
}

std::string machine_text(const MachineReport& machine) {
  const std::string usable = machine.usable_cpus < machine.cores
                                 ? format_number(machine.usable_cpus) + " of them usable"
                                 : "";
  return listed({machine.cpu, std::to_string(machine.cores) + " CPUs", usable,
                 machine.memory_bytes > 0 ? format_bytes(machine.memory_bytes) : "", machine.os,
                 machine.virtualized.value_or(false) ? "virtualized" : ""});
}

std::string noise_text(const Noise& noise) {
  return listed({with_name("blocks vary by ", noise.block_cv),
                 with_name("stolen CPU time ", noise.steal_share),
                 with_name("throttled ", noise.throttled_share)});
}

std::string versions_text(const DeviceFacts& facts) {
  const auto named = [](const char* name, const std::string& version) {
    return version.empty() ? "" : name + version;
  };
  return listed({named("driver ", facts.driver_version), named("CUDA ", facts.cuda_runtime_version),
                 named("LibTorch ", facts.libtorch_version), named("cuDNN ", facts.cudnn_version)});
}

std::string settings_text(const Report& report) {
  const BisectSettings& settings = report.settings;
  const std::string nonce =
      settings.order_nonce ? "--nonce " + std::to_string(*settings.order_nonce) : "";
  return listed({"confidence " + format_percent(settings.confidence),
                 "smallest drop " + format_percent(settings.min_drop), "reading " + settings.io,
                 "seed " + std::to_string(settings.seed), nonce});
}

}  // namespace

document::Table run_table(const Report& report) {
  document::Table table{.columns = {{"what"}, {"was measured"}}};
  const auto add = [&table](const char* what, const std::string& text) {
    if (!text.empty()) table.rows.push_back({what, text});
  };
  add("pipeline", pipeline_text(report.chain));
  add("job", job_text(report.chain));
  add("device", versions_text(report.chain.device_facts));
  add("machine", machine_text(report.machine));
  add("noise", noise_text(report.machine.noise));
  add("settings", settings_text(report));
  add("measured", rounds_text(report));
  add("started", report.started);
  add("tool", tool_text());
  return table;
}

document::Code pipeline_code(const Report& report) {
  using nlohmann::ordered_json;
  document::Code code{.lines = {}, .language = "json"};
  if (report.chain.effective_json.empty()) return code;
  const ordered_json json = ordered_json::parse(report.chain.effective_json);
  std::istringstream text(json.dump(2, ' ', true, ordered_json::error_handler_t::replace));
  for (std::string line; std::getline(text, line);) code.lines.push_back(line);
  return code;
}

}  // namespace cachebisect
