#include "cachebisect/profile/script_profile.hpp"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "cachebisect/profile/script_groups.hpp"
#include "cachebisect/remote/socket_listener.hpp"
#include "cachebisect/timing/script_times.hpp"

namespace cachebisect::profile {
namespace {

constexpr int kUsualActive = 100;
constexpr int kUsualTracedActive = 3;
constexpr const char* kLoading = "/loading.json";

/// What python/cachebisect/_timing/profiling.py expects.
std::string request(const Options& options, int active, const std::string& trace,
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
                             const Options& options, const std::stop_token& stop) {
  check(options);
  const PrivateFolder folder;
  const bool operators = options.kind != Kind::simple || options.trace;
  const std::string trace = operators ? folder.path() + "/trace.json" : "";
  const int active = options.active.value_or(operators ? kUsualTracedActive : kUsualActive);
  TimingOptions timing;
  timing.epochs = 0;
  timing.max_batches = static_cast<std::uint64_t>(active);
  ScriptTimes times = time_script(
      {.words = command,
       .hook = hook,
       .environment = {{"CACHEBISECT_PROFILE", request(options, active, trace, folder.path())}}},
      timing, stop);
  const auto loading = read_script_loading(content_of(folder.path() + kLoading));
  return {profile_of_script(times.record, loading, trace.empty() ? "" : content_of(trace), options),
          times.exit_code};
}

}  // namespace cachebisect::profile
