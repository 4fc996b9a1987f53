// A program in place of a training script: answers the engine from a simulated chain. Its argument
// says how it behaves.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "support/connect.hpp"
#include "support/fake_adapter.hpp"
#include <unistd.h>

#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr int kLateBlock = 60;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "(unset)" : value;
}

int number(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

FaultPlan plan_of(const std::string& mode) {
  if (mode == "no-loader") return {.fault = Fault::closed, .type = "describe"};
  if (mode == "dies") return {.fault = Fault::closed, .nth = kLateBlock};
  if (mode == "raises") return {.fault = Fault::error, .nth = kLateBlock};
  if (mode == "stuck" || mode == "deaf") return {.fault = Fault::silent, .nth = kLateBlock};
  if (mode == "refuses") return {.fault = Fault::error, .type = "describe"};
  if (mode == "bad") return {.fault = Fault::not_json, .nth = kLateBlock};
  return {};
}

SimulatedChain chain(const std::string& mode) {
  SimulatedChain chain;
  const double decode = mode == "slow" ? 3e-3 : mode == "fast" ? 0.01e-3 : 1e-3;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 0.2e-3},
                  {.name = "decode", .category = Category::decode, .seconds = decode}};
  return chain;
}

/// The same with a function inside `decode` as a stage of its own.
SimulatedChain opened_chain() {
  SimulatedChain opened = chain("inside");
  opened.stages.back().seconds = 0.1e-3;
  opened.stages.push_back({.name = "parse", .seconds = 0.9e-3});
  return opened;
}

/// Until a signal ends it.
[[noreturn]] void wait_for_signal() {
  for (;;) pause();
}

/// A process that would outlive this one; `own_session`: as a rank of torchrun.
void leave_worker(bool own_session) {
  const pid_t worker = fork();
  if (worker == 0) {
    if (own_session) setsid();
    signal(SIGTERM, SIG_IGN);
    wait_for_signal();
  }
  say("worker " + std::to_string(worker));
}

/// As a script that writes its last checkpoint, until the file named by RELEASE exists.
void save_work() {
  while (!std::filesystem::exists(variable("RELEASE"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  say("saved");
}

/// The fault of a block of a phase that begins after the verdict: the run in one piece alone is
/// timed in groups, the explanation alone measures without probes, and the what-ifs alone with
/// overrides.
FaultPlan late_plan_of(const nlohmann::json& request, const std::string& mode) {
  if (mode == "raises-late" && request.at("groups") > 1) return {.fault = Fault::error};
  const nlohmann::json& arm = request.at("arm");
  const bool silent = (mode == "silent-explain" && arm.at("observed") == false) ||
                      (mode == "silent-verify" && !arm.at("overrides").empty());
  return silent ? FaultPlan{.fault = Fault::silent} : FaultPlan{};
}

int serve(const std::string& mode) {
  const bool steady = mode == "steady" || mode == "slow" || mode == "fast";
  SimulatedReplayer replayer(chain(mode), {.noise = {.white_cv = steady ? 0.01 : 0.05}});
  FakeAdapter adapter(&replayer, connect_to(variable("CACHEBISECT_SOCKET")), plan_of(mode));
  SimulatedReplayer opened(opened_chain(), {.noise = {.white_cv = 0.05}});
  if (mode == "inside") adapter.inside = &opened;
  adapter.rank = number("RANK", 0);
  adapter.world = number("WORLD_SIZE", 1);
  int blocks = 0;
  adapter.program = "fake.py";
  if (mode == "old") adapter.protocol = 0;
  adapter.on_request = [&](const std::string& type) {
    if (type == "run" && blocks++ == kLateBlock) {
      say("late block");
      if (mode == "killed") static_cast<void>(raise(SIGKILL));
    }
    if (type == "stop") say("stopped");
    if (type == "stop" && mode == "deaf") wait_for_signal();
  };
  adapter.on_message = [&](const nlohmann::json& request) {
    if (request.at("type") != "run") return;
    const FaultPlan late = late_plan_of(request, mode);
    if (late.fault == Fault::none) return;
    if (late.fault == Fault::silent) say("silent phase");
    adapter.plan = late;
  };
  adapter.serve();
  if (mode == "dies") return 1;
  if (adapter.finish.is_null()) return 0;
  say("finish " + adapter.finish.at("then").get<std::string>());
  if (mode == "saves" || mode == "refuses") save_work();
  return adapter.finish.at("then") == "exit" ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "fails") return 7;
  if (mode == "silent") wait_for_signal();
  if (mode == "worker" || mode == "session") leave_worker(mode == "session");
  std::puts("training");
  std::fflush(stdout);
  say("CACHEBISECT=" + variable("CACHEBISECT") + " WANDB_MODE=" + variable("WANDB_MODE") +
      " PYTHONPATH=" + variable("PYTHONPATH"));
  say("CACHEBISECT_LOADER=" + variable("CACHEBISECT_LOADER"));
  return serve(mode);
}
