#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/doctor/doctor.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/make_device.hpp"

namespace cachebisect::cli {
namespace {

struct DoctorArguments {
  std::string device = "auto";
  double seconds = 10;
  std::string data = default_cache_folder();
  std::string color = "auto";
};

int run(const DoctorArguments& arguments) {
  constexpr double kMinSeconds = 0.5;
  if (!(arguments.seconds >= kMinSeconds)) throw Error(ErrorKind::usage, "--seconds: at least 0.5");
  const TextOptions page = text_options(arguments.color, STDOUT_FILENO);
  SignalWatch signals;
  const auto work = [&] {
    PipelineSpec spec;
    spec.device = arguments.device;
    const std::shared_ptr<Device> device = make_device(spec);
    const DoctorOptions options{.seconds = arguments.seconds, .folder = arguments.data};
    const std::string text = to_text(diagnose(*device, options, signals.token()), page);
    signals.begin_output();
    signals.begin_streams();
    std::cout << text << std::flush;
    return 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

}  // namespace

Command add_doctor(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  app.add_option("--device", arguments->device, device_names())
      ->type_name("auto|cpu|cuda|emulated");
  app.add_option("--seconds", arguments->seconds, "how long to measure (10)")->type_name("SECONDS");
  app.add_option("--data", arguments->data, "the folder that data is read from (the cache folder)")
      ->type_name("DIR");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
