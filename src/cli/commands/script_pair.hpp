// Two commands that are measured in turns.
#pragma once

#include <string>
#include <vector>

#include "commands/script_run.hpp"

#include "cachebisect/compare/compare_jobs.hpp"

namespace cachebisect::cli {

/// The commands of "python a.py -- python b.py"; empty if no "--" stands between two.
std::vector<std::vector<std::string>> split_commands(const std::vector<std::string>& words);

class ScriptPair {
 public:
  /// `options`: of both commands, which are `a` and `b`.
  ScriptPair(const ScriptArguments& options, std::vector<std::string> a,
             std::vector<std::string> b);

  /// Starts both, one after the other, waits for their training loops and compares them. Throws
  /// what ScriptRun::begin() and compare() throw; an error names the command.
  Comparison compare(SessionTools& tools, CompareJobsOptions options, bool stdout_to_stderr);
  /// Ends both commands; returns the exit code.
  int end(const SessionEnd& end);
  /// If the process has to end at once. Any thread.
  void abandon();

 private:
  AttachArguments attach_{.then = "exit"};
  ScriptArguments arguments_a_;
  ScriptArguments arguments_b_;
  ScriptRun a_;
  ScriptRun b_;
};

}  // namespace cachebisect::cli
