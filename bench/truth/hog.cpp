#include "bench/truth/hog.hpp"

#include <csignal>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::truth {
namespace {

[[noreturn]] void burn() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  volatile unsigned sum = 0;
  for (;;) sum = sum + 1;
}

}  // namespace

Hogs::Hogs(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) throw Error(ErrorKind::internal, "cannot start a process that burns a core");
    if (child == 0) burn();
    children_.push_back(child);
  }
}

Hogs::~Hogs() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace cachebisect::truth
