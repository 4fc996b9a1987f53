#include "cachebisect/observe/follow_script.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/hook_folder.hpp"

namespace cachebisect {
namespace {

ChildOptions child_options(const ScriptCommand& command, const LoopLimits& limits,
                           const std::string& file) {
  ChildOptions child{.words = command.words,
                     .environment = hook_environment(find_hook_folder(command.hook)),
                     .stdout_to_stderr = command.stdout_to_stderr};
  child.environment.emplace("CACHEBISECT_TIME",
                            script_loop_request(file, limits, command.continues));
  child.environment.insert(command.environment.begin(), command.environment.end());
  return child;
}

[[noreturn]] void fail_without_batches(const std::optional<ChildStatus>& status,
                                       const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  if (status && !status->ok()) {
    throw Error(ErrorKind::data, "the command ended " + status->text() +
                                     " before a batch was timed; see its own messages");
  }
  throw Error(ErrorKind::usage,
              "the command ended before a batch was timed: it must iterate a "
              "torch.utils.data.DataLoader in its main thread and call backward() for each batch; "
              "the first four such batches are not timed");
}

}  // namespace

FollowedScript follow_script(CommandWithFolder& run, const ScriptCommand& command,
                             const LoopLimits& limits, const std::stop_token& stop) {
  const std::string file = run.folder() + "/times.json";
  const auto status = run.run(child_options(command, limits, file), stop);
  std::ifstream content(file);
  if (!content) fail_without_batches(status, stop);
  FollowedScript script{.loop = read_script_loop({std::istreambuf_iterator<char>(content), {}})};
  if (script.loop.batches.empty()) fail_without_batches(status, stop);
  if (stop.stop_requested()) {
    script.loop.ended_by = LoopEnd::interrupted;
  } else if (!status || !status->ok()) {
    script.exit_code = exit_code(ErrorKind::data);
  }
  return script;
}

}  // namespace cachebisect
