// `storage-emulator`: serves a folder until Ctrl-C.
#include <iostream>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "shell/signals.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/emulator/storage_emulator.hpp"

namespace cachebisect::cli {
namespace {

struct EmulatorArguments {
  std::string data;
  std::string address = "127.0.0.1";
  int port = 0;
  double latency_ms = 20;
  double latency_p99_ms = 60;
  double bandwidth_mb_per_s = 100;
  double requests_per_second = 500;
  double burst = 100;
  std::uint64_t seed = 1;
  bool latency_given = false;
  bool p99_given = false;
};

StorageSettings settings_of(const EmulatorArguments& arguments) {
  constexpr double kPerThousand = 1e-3;
  constexpr double kMegabyte = 1e6;
  constexpr double kUsualTail = 3;
  // A latency alone keeps the shape of the usual one.
  const double p99 = arguments.latency_given && !arguments.p99_given
                         ? kUsualTail * arguments.latency_ms
                         : arguments.latency_p99_ms;
  return {.median_seconds = kPerThousand * arguments.latency_ms,
          .p99_seconds = kPerThousand * p99,
          .bytes_per_second = kMegabyte * arguments.bandwidth_mb_per_s,
          .requests_per_second = arguments.requests_per_second,
          .burst = arguments.burst,
          .seed = arguments.seed};
}

std::string emulator_summary(const EmulatorTotals& totals) {
  return counted(totals.requests, "request") + ", " +
         format_bytes(static_cast<double>(totals.bytes)) + " sent, " +
         format_count(totals.throttled) + " throttled (503), at most " +
         std::to_string(totals.most_in_flight) + " at once\n";
}

int run(const EmulatorArguments& arguments) {
  SignalWatch signals;
  StorageEmulator emulator({.folder = arguments.data,
                            .address = arguments.address,
                            .port = arguments.port,
                            .storage = settings_of(arguments)});
  std::cout << emulator.url() << std::endl;
  const EmulatorTotals totals = emulator.serve(signals.token());
  signals.begin_output();
  signals.begin_streams();
  std::cout << emulator_summary(totals) << std::flush;
  return signals.exit_code();
}

}  // namespace

Command add_storage_emulator(CLI::App& app) {
  auto arguments = std::make_shared<EmulatorArguments>();
  app.add_option("--data", arguments->data, "the folder whose files are served")
      ->type_name("DIR")
      ->required();
  app.add_option("--address", arguments->address,
                 "where to listen (127.0.0.1: programs of this machine alone)")
      ->type_name("ADDRESS");
  app.add_option("--port", arguments->port, "the port (a free one)")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  CLI::Option* const latency =
      app.add_option("--latency-ms", arguments->latency_ms,
                     "time to the first byte, median, in milliseconds (20)")
          ->type_name("MS");
  CLI::Option* const p99 =
      app.add_option("--latency-p99-ms", arguments->latency_p99_ms,
                     "its 99th percentile (60; with --latency-ms three times that)")
          ->type_name("MS");
  app.add_option("--bandwidth-mb-per-s", arguments->bandwidth_mb_per_s,
                 "megabytes per second of all answers together; 0: no limit (100)")
      ->type_name("MB");
  app.add_option("--requests-per-second", arguments->requests_per_second,
                 "above this rate requests get 503; 0: no limit (500)")
      ->type_name("N");
  app.add_option("--burst", arguments->burst,
                 "requests that are answered at once after a pause (100)")
      ->type_name("N");
  app.add_option("--seed", arguments->seed, "of the latencies (1)")->type_name("N");
  return [arguments, latency, p99] {
    arguments->latency_given = latency->count() > 0;
    arguments->p99_given = p99->count() > 0;
    return run(*arguments);
  };
}

}  // namespace cachebisect::cli
