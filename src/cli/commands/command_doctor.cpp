#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/doctor/doctor.hpp"
#include "cachebisect/doctor/object_list.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/report/json/read_report.hpp"

namespace cachebisect::cli {
namespace {

struct DoctorArguments {
  std::string device = "auto";
  double seconds = 10;
  std::string data;  ///< empty: the cache folder, and not its storage
  std::vector<std::string> urls;
  std::string needs;  ///< a report
  std::string color = "auto";
};

std::optional<StorageNeeds> needs_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  const Report report = load_report(file);
  const auto& reading = report.reading;
  if (!reading || !reading->ceiling_bytes_per_second) {
    throw Error(ErrorKind::usage,
                file +
                    ": it does not say what is read; measure a pipeline file, or a script whose "
                    "verdict names reading");
  }
  return StorageNeeds{report.chain.name, *reading->ceiling_bytes_per_second,
                      reading->bytes_per_sample};
}

int run(const DoctorArguments& arguments) {
  constexpr double kMinSeconds = 0.5;
  if (!(arguments.seconds >= kMinSeconds)) throw Error(ErrorKind::usage, "--seconds: at least 0.5");
  if (!arguments.needs.empty() && arguments.data.empty() && arguments.urls.empty()) {
    throw Error(ErrorKind::usage, "--needs: name where the data is, too: --data DIR or --url URL");
  }
  if (!arguments.data.empty() && !std::filesystem::is_directory(arguments.data)) {
    throw Error(ErrorKind::usage, "--data: there is no folder " + quote(arguments.data));
  }
  const std::vector<std::string> urls = list_objects(arguments.urls);
  const std::optional<StorageNeeds> needs = needs_of(arguments.needs);
  const TextOptions page = text_options(arguments.color, STDOUT_FILENO);
  SignalWatch signals;
  const auto work = [&] {
    PipelineSpec spec;
    spec.device = arguments.device;
    const std::shared_ptr<Device> device = make_device(spec);
    const bool named = !arguments.data.empty();
    const DoctorOptions options{.seconds = arguments.seconds,
                                .folder = named ? arguments.data : default_cache_folder(),
                                .storage = named,
                                .urls = urls};
    const Diagnosis diagnosis = diagnose(*device, options, signals.token());
    const std::string text = to_text(diagnosis, page, needs);
    signals.begin_output();
    signals.begin_streams();
    std::cout << text << std::flush;
    const bool unread = diagnosis.server && !diagnosis.server->problem.empty();
    return unread ? exit_code(ErrorKind::data) : 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

}  // namespace

Command add_doctor(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  app.add_option("--device", arguments->device, device_names())
      ->type_name("auto|cpu|cuda|emulated");
  app.add_option("--seconds", arguments->seconds, "how long to measure (10)")->type_name("SECONDS");
  app.add_option("--data", arguments->data,
                 "the folder that data is read from: what its storage gives (none)")
      ->type_name("DIR");
  app.add_option("--url", arguments->urls,
                 "an object of http or https, or @FILE with one per line: what their server gives; "
                 "may be repeated")
      ->type_name("URL");
  app.add_option(
         "--needs", arguments->needs,
         "with --data or --url: a JSON report of a job, which the storage must keep up with")
      ->type_name("FILE");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
