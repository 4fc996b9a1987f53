#include "cachebisect/timing/script_times.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/await_child.hpp"
#include "cachebisect/launch/child_process.hpp"
#include "cachebisect/launch/hook_folder.hpp"
#include "cachebisect/remote/socket_listener.hpp"
#include "cachebisect/timing/script_timing.hpp"

namespace cachebisect {
namespace {

ChildOptions child_options(const ScriptCommand& command, const TimingOptions& options,
                           const std::string& file) {
  ChildOptions child{.words = command.words,
                     .environment = hook_environment(find_hook_folder(command.hook)),
                     .stdout_to_stderr = command.stdout_to_stderr};
  child.environment.emplace("CACHEBISECT_TIME",
                            script_timing_request(file, options, command.continues));
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

ScriptTimes time_script(const ScriptCommand& command, const TimingOptions& options,
                        const std::stop_token& stop) {
  const PrivateFolder folder;
  const std::string file = folder.path() + "/times.json";
  std::optional<ChildStatus> status;
  {
    ChildProcess child(child_options(command, options, file));
    status = await_child(child, stop);
  }
  std::ifstream content(file);
  if (!content) fail_without_batches(status, stop);
  ScriptTimes times;
  times.record =
      read_script_timing({std::istreambuf_iterator<char>(content), {}}, command.words, options);
  if (times.record.runs.front().batches.empty()) fail_without_batches(status, stop);
  if (stop.stop_requested()) {
    times.record.runs.front().ended_by = TimingEnd::interrupted;
  } else if (!status || !status->ok()) {
    times.exit_code = exit_code(ErrorKind::data);
  }
  return times;
}

}  // namespace cachebisect
