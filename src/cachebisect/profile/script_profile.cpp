#include "cachebisect/profile/script_profile.hpp"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "cachebisect/observe/script_loading.hpp"
#include "cachebisect/profile/script_groups.hpp"

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

ScriptProfile profile_script(CommandWithFolder& run, const std::vector<std::string>& command,
                             const std::string& hook, const Options& options,
                             const std::stop_token& stop) {
  check(options);
  const std::string& folder = run.folder();
  const bool operators = options.kind != Kind::simple || options.trace;
  const std::string trace = operators ? folder + "/trace.json" : "";
  const int active = options.active.value_or(operators ? kUsualTracedActive : kUsualActive);
  const FollowedScript script = follow_script(
      run,
      {.words = command,
       .hook = hook,
       .environment = {{"CACHEBISECT_PROFILE", request(options, active, trace, folder)}}},
      {.max_batches = static_cast<std::uint64_t>(active)}, stop);
  const auto loading = read_script_loading(content_of(folder + kLoading));
  return {profile_of_script(script.loop, loading, trace.empty() ? "" : content_of(trace), options),
          script.exit_code};
}

}  // namespace cachebisect::profile
