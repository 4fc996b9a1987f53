// Work in a process of its own.
#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace cachebisect::test {

/// Runs `work` in a child process; returns how that ended, as waitpid() does.
inline int status_of_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace cachebisect::test
