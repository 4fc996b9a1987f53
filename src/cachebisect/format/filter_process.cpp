#include "cachebisect/format/filter_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {
namespace {

/// This process's end of a channel, and the program's.
struct Channel {
  FileDescriptor own;
  FileDescriptor theirs;
};

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorKind::internal, std::string(call) + ": " + errno_text(errno));
}

/// A socket, because a reader that has ended then raises no signal.
Channel make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  Channel channel{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  return channel;
}

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes_, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  void redirect(int descriptor, const FileDescriptor& to) {
    posix_spawn_file_actions_adddup2(&actions_, to.get(), descriptor);
  }
  /// Negative if there is no such program.
  pid_t start(const std::vector<std::string>& words) {
    std::vector<std::string> copy = words;
    std::vector<char*> arguments;
    arguments.reserve(copy.size() + 1);
    for (std::string& word : copy) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = -1;
    const int error =
        posix_spawnp(&process, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    if (error == ENOENT || error == EACCES || error == ENOTDIR) return -1;
    errno = error;
    if (error != 0) fail("posix_spawnp");
    return process;
  }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

/// Sends what fits; closes the channel at the end or if the program reads no more.
void send_some(FileDescriptor& to, std::string_view& input) {
  while (!input.empty()) {
    const ssize_t sent = send(to.get(), input.data(), input.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) break;
    input.remove_prefix(static_cast<std::size_t>(sent));
  }
  to.close();
}

/// Reads what is there; closes the channel at its end.
void read_some(FileDescriptor& from, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(from.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    from.close();
  } else {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// False if the time is over before the program has closed its outputs.
bool exchange(Channel& in, Channel& out, Channel& err, std::string_view input, FilterResult& result,
              double deadline) {
  while (out.own.is_open() || err.own.is_open()) {
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return false;
    std::array<pollfd, 3> entries{pollfd{out.own.get(), POLLIN, 0},
                                  pollfd{err.own.get(), POLLIN, 0},
                                  pollfd{in.own.get(), POLLOUT, 0}};
    if (poll(entries.data(), entries.size(), static_cast<int>(1000 * left) + 1) < 0) continue;
    if (entries[0].revents != 0) read_some(out.own, result.output);
    if (entries[1].revents != 0) read_some(err.own, result.errors);
    if (entries[2].revents != 0) send_some(in.own, input);
  }
  return true;
}

bool ended_well(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<FilterResult> run_filter(const std::vector<std::string>& words,
                                       std::string_view input, double max_seconds) {
  const double deadline = monotonic_seconds() + max_seconds;
  Channel in = make_channel();
  Channel out = make_channel();
  Channel err = make_channel();
  SpawnSettings settings;
  settings.redirect(STDIN_FILENO, in.theirs);
  settings.redirect(STDOUT_FILENO, out.theirs);
  settings.redirect(STDERR_FILENO, err.theirs);
  const pid_t process = settings.start(words);
  if (process < 0) return std::nullopt;
  for (Channel* const channel : {&in, &out, &err}) channel->theirs.close();
  FilterResult result;
  const bool in_time = exchange(in, out, err, input, result, deadline);
  if (!in_time) {
    kill(process, SIGKILL);
    result.errors += "killed, because it took too long";
  }
  result.ok = ended_well(process) && in_time;
  return result;
}

}  // namespace cachebisect
