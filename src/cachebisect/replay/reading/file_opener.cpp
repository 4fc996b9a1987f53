#include "cachebisect/replay/reading/file_opener.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cachebisect {
namespace {

// Missing from the headers of older C libraries; the same number on every architecture except
// Alpha.
#ifdef SYS_openat2
constexpr long kOpenat2 = SYS_openat2;
#else
constexpr long kOpenat2 = 437;
#endif

constexpr std::uint64_t kResolveCached = 0x20;

// Non-blocking, in case the file is a FIFO.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

int open_cached(const std::string& path) {
  struct {
    std::uint64_t flags;
    std::uint64_t mode;
    std::uint64_t resolve;
  } how{kFlags, 0, kResolveCached};
  return static_cast<int>(syscall(kOpenat2, AT_FDCWD, path.c_str(), &how, sizeof(how)));
}

}  // namespace

FileOpener::FileOpener()
    : FileOpener([](const std::string& path) { return ::open(path.c_str(), kFlags); },
                 open_cached) {}

FileOpener::FileOpener(Open plain, Open cached)
    : plain_(std::move(plain)), cached_(std::move(cached)) {}

void FileOpener::learn(const std::string& path) {
  if (cached_works_ || !open_plainly(path).is_open()) return;
  cached_works_ = FileDescriptor(cached_(path)).is_open();
}

std::optional<FileDescriptor> FileOpener::open(const std::string& path) const {
  if (!cached_works_) return open_plainly(path);
  FileDescriptor file(cached_(path));
  if (!file.is_open() && errno == EAGAIN) return std::nullopt;
  return file;
}

FileDescriptor FileOpener::open_plainly(const std::string& path) const {
  return FileDescriptor(plain_(path));
}

}  // namespace cachebisect
