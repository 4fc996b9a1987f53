#include "cachebisect/replay/loop/suspension_watch.hpp"

#include <array>
#include <csignal>
#include <string>

#include <doctest/doctest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

using namespace cachebisect;

namespace {

/// Stops this process; a helper process continues it after 0.8 s.
void suspend_myself() {
  std::string command = "sleep 0.8; kill -CONT " + std::to_string(getpid());
  std::string shell = "sh";
  std::string flag = "-c";
  std::array<char*, 4> arguments{shell.data(), flag.data(), command.data(), nullptr};
  pid_t helper = 0;
  REQUIRE(posix_spawn(&helper, "/bin/sh", nullptr, nullptr, arguments.data(), environ) == 0);
  REQUIRE(kill(getpid(), SIGSTOP) == 0);
  int status = 0;
  REQUIRE(waitpid(helper, &status, 0) == helper);
}

}  // namespace

TEST_CASE("a suspension is detected once") {
  SuspensionWatch watch;
  watch.arm();
  suspend_myself();
  CHECK(watch.disarm());
  watch.arm();
  CHECK_FALSE(watch.disarm());
}

TEST_CASE("a suspension while nothing is measured does not count") {
  SuspensionWatch watch;
  suspend_myself();
  watch.arm();
  CHECK_FALSE(watch.disarm());
}
