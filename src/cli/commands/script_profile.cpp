#include "commands/script_profile.hpp"

#include <fstream>
#include <iterator>

#include "commands/script_times.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/profile/script_groups.hpp"
#include "cachebisect/remote/socket_listener.hpp"

namespace cachebisect::cli {
namespace {

constexpr int kUsualActive = 100;
constexpr int kUsualTracedActive = 3;
constexpr const char* kLoading = "/loading.json";

/// What python/cachebisect/_timing/profiling.py expects.
std::string request(const profile::Options& options, int active, const std::string& trace,
                    const std::string& folder) {
  return nlohmann::json{{"wait", options.wait},
                        {"warmup", options.warmup},
                        {"active", active},
                        {"trace", trace},
                        {"loading", folder + kLoading},
                        {"fetches", folder},
                        {"shapes", options.step_profiler.shapes},
                        {"memory", options.step_profiler.memory}}
      .dump();
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

ScriptProfile profile_script(const std::vector<std::string>& command, const std::string& hook,
                             const profile::Options& options, const std::stop_token& stop) {
  profile::check(options);
  const PrivateFolder folder;
  const bool operators = options.kind != profile::Kind::simple || options.trace;
  const std::string trace = operators ? folder.path() + "/trace.json" : "";
  const int active = options.active.value_or(operators ? kUsualTracedActive : kUsualActive);
  TimeArguments time;
  time.command = command;
  time.hook = hook;
  TimingOptions timing;
  timing.epochs = 0;
  timing.max_batches = static_cast<std::uint64_t>(active);
  ScriptTimes times =
      time_script(time, timing, stop,
                  {{"CACHEBISECT_PROFILE", request(options, active, trace, folder.path())}});
  const auto loading = profile::read_script_loading(content_of(folder.path() + kLoading));
  return {profile::profile_of_script(times.record, loading, trace.empty() ? "" : content_of(trace),
                                     options),
          times.exit_code};
}

}  // namespace cachebisect::cli
