// What a machine may lack that a test needs: the test names it and is skipped, instead of failing
// as if the tool were wrong.
#pragma once

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pty.h>
#include <unistd.h>

namespace cachebisect::test {

/// What the test cases of this process were skipped for.
inline std::vector<std::string>& skip_reasons() {
  static std::vector<std::string> reasons;
  return reasons;
}

/// Notes that the rest of a test case does not run. `lacking` names what the machine does not have.
/// A process in which no check failed then ends with kSkippedExitCode.
inline void skip(std::string lacking) { skip_reasons().push_back(std::move(lacking)); }

/// What POSIX_FADV_DONTNEED does on most file systems.
inline constexpr const char* kPageEviction =
    "a folder for temporary files whose pages can be evicted";

/// ctest shows a test with this exit code as skipped.
inline constexpr int kSkippedExitCode = 77;

/// Why no pseudo-terminal can be opened, as in a container without /dev/pts.
inline std::optional<std::string> lacking_terminal() {
  int controller = -1;
  int terminal = -1;
  if (openpty(&controller, &terminal, nullptr, nullptr, nullptr) != 0) {
    return std::string("pseudo-terminals (/dev/ptmx, /dev/pts): ") + std::strerror(errno);
  }
  close(controller);
  close(terminal);
  return std::nullopt;
}

/// The same for a device file that a test writes to.
inline std::optional<std::string> lacking_writable(const std::string& path) {
  if (access(path.c_str(), W_OK) == 0) return std::nullopt;
  return path + " that can be written: " + std::strerror(errno);
}

}  // namespace cachebisect::test
