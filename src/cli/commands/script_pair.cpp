#include "commands/script_pair.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

ScriptArguments with_command(ScriptArguments options, std::vector<std::string> command) {
  options.command = std::move(command);
  return options;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// An error says which of the two commands it is about.
AttachedReplayer& begun(ScriptRun& run, const std::string& which, SessionTools& tools,
                        bool stdout_to_stderr) {
  try {
    return run.begin(tools, stdout_to_stderr).open(tools);
  } catch (const Error& error) {
    throw Error(error.kind(), which + ": " + error.what());
  }
}

}  // namespace

std::vector<std::vector<std::string>> split_commands(const std::vector<std::string>& words) {
  const auto middle = std::ranges::find(words, "--");
  if (middle == words.end() || middle == words.begin() || middle + 1 == words.end()) return {};
  return {{words.begin(), middle}, {middle + 1, words.end()}};
}

ScriptPair::ScriptPair(const ScriptArguments& options, std::vector<std::string> a,
                       std::vector<std::string> b)
    : arguments_a_(with_command(options, std::move(a))),
      arguments_b_(with_command(options, std::move(b))),
      a_(arguments_a_, attach_),
      b_(arguments_b_, attach_) {}

Comparison ScriptPair::compare(SessionTools& tools, CompareJobsOptions options,
                               bool stdout_to_stderr) {
  AttachedReplayer& a = begun(a_, "A", tools, stdout_to_stderr);
  AttachedReplayer& b = begun(b_, "B", tools, stdout_to_stderr);
  options.stop = tools.options.stop;
  return cachebisect::compare(JobSource{&a, joined(arguments_a_.command)},
                              JobSource{&b, joined(arguments_b_.command)}, options);
}

int ScriptPair::end(const SessionEnd& end) {
  const int first = a_.end(end);
  const int second = b_.end(end);
  return first != 0 ? first : second;
}

void ScriptPair::abandon() {
  a_.abandon();
  b_.abandon();
}

}  // namespace cachebisect::cli
