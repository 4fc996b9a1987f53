#include "output/temporary_file.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = ".cachebisect-";
constexpr const char* kSuffix = ".tmp";

/// Waits while remove_abandoned_temporaries() of another process holds the lock.
void lock(const FileDescriptor& file) {
  while (flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0 || errno != ENOENT; }

void remove_if_abandoned(const fs::path& path) {
  // For writing, because NFS locks only such files exclusively. O_NONBLOCK: it may be a FIFO.
  const FileDescriptor file(
      open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
}

}  // namespace

std::string temporary_path(const fs::path& folder) {
  // Processes in several containers may write into one folder and have the same id.
  const auto nanoseconds = static_cast<std::int64_t>(1e9 * monotonic_seconds());
  return (folder /
          (kPrefix + std::to_string(getpid()) + "-" + std::to_string(nanoseconds) + kSuffix))
      .string();
}

FileDescriptor make_temporary(const std::string& path) {
  constexpr mode_t kTemporaryMode = 0666;
  for (;;) {
    FileDescriptor file(
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kTemporaryMode));
    if (!file.is_open()) return file;
    lock(file);
    if (exists(path)) return file;  // no other process removed it before it was locked
  }
}

void remove_abandoned_temporaries(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) remove_if_abandoned(at->path());
  }
}

}  // namespace cachebisect::cli
