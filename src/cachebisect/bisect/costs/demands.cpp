#include "cachebisect/bisect/costs/demands.hpp"

#include <algorithm>
#include <numeric>

namespace cachebisect {
namespace {

double& at(std::array<double, kServers>& times, Server server) {
  return times[static_cast<std::size_t>(server)];
}

}  // namespace

const char* to_string(Server server) noexcept {
  switch (server) {
    case Server::workers:
      return "workers";
    case Server::training_thread:
      return "training thread";
    case Server::step:
      return "step";
    case Server::copy:
      return "copy";
    case Server::cpu:
      return "CPU";
    case Server::lock:
      return "lock";
    case Server::memory:
      return "memory";
  }
  return "unknown";
}

std::array<double, kServers> server_seconds(const Demands& in) noexcept {
  const double load =
      in.serve_seconds + std::accumulate(in.live_seconds.begin(), in.live_seconds.end(), 0.0);
  std::array<double, kServers> times{};
  if (in.workers > 0) at(times, Server::workers) = load / in.workers;
  at(times, Server::training_thread) =
      in.trainer_seconds + (in.copy_blocks ? in.copy_seconds : 0) + (in.workers > 0 ? 0 : load);
  at(times, Server::step) = in.step_seconds;
  at(times, Server::copy) = in.copy_seconds;
  if (!in.copy_overlaps) {
    const bool copies_longer = in.copy_seconds > in.step_seconds;
    at(times, copies_longer ? Server::copy : Server::step) = in.copy_seconds + in.step_seconds;
    at(times, copies_longer ? Server::step : Server::copy) = 0;
  }
  at(times, Server::cpu) = in.cpu_seconds / std::max(in.cores, 1e-9);
  at(times, Server::lock) = in.serial_seconds;
  at(times, Server::memory) = in.memory_seconds;
  return times;
}

Server limiting_server(const Demands& input) noexcept {
  const auto times = server_seconds(input);
  return static_cast<Server>(std::max_element(times.begin(), times.end()) - times.begin());
}

double predicted_seconds_per_sample(const Demands& input) noexcept {
  const auto times = server_seconds(input);
  return *std::max_element(times.begin(), times.end());
}

double law_margin(const Demands& input) noexcept {
  auto times = server_seconds(input);
  std::sort(times.begin(), times.end());
  const double next = times[times.size() - 2];
  return next > 0 ? times.back() / next : 1e9;
}

}  // namespace cachebisect
