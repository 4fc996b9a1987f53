#include "output/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "output/output_error.hpp"
#include "output/temporary_file.hpp"
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cachebisect::cli {
namespace {

bool is_fifo(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

void wait_until_writable(int descriptor) {
  pollfd entry{descriptor, POLLOUT, 0};
  poll(&entry, 1, -1);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  try {
    target_ = resolve_output(path_);
  } catch (const std::filesystem::filesystem_error& error) {
    fail(error.code().value());
  }
  if (!is_file()) {
    open_stream();
    return;
  }
  const std::filesystem::path folder = target_.path.parent_path();
  temporary_ = temporary_path(folder);
  (void)open_temporary();
  discard();
  remove_abandoned_temporaries(folder);
}

void OutputFile::open_stream() {
  if (target_.kind == OutputTarget::Kind::descriptor) {
    const int flags = fcntl(target_.descriptor, F_GETFL);
    if (flags < 0) fail(errno);
    if ((flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
    stream_ = FileDescriptor(fcntl(target_.descriptor, F_DUPFD_CLOEXEC, 0));
  } else {
    // O_NONBLOCK: a FIFO without a reader must not wait here.
    stream_ = FileDescriptor(open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!stream_.is_open() && errno == ENXIO && is_fifo(path_)) return;  // commit() waits for one
  }
  if (!stream_.is_open()) fail(errno);
}

FileDescriptor OutputFile::open_temporary() const {
  FileDescriptor file = make_temporary(temporary_);
  if (!file.is_open()) fail(errno);
  return file;
}

void OutputFile::discard() const noexcept {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::fail(int code) const { fail_output(path_, code); }

void OutputFile::write_all(const FileDescriptor& file, std::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      wait_until_writable(file.get());
      continue;
    }
    if (written < 0) fail(errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::write_to_stream(std::string_view content) {
  if (!stream_.is_open()) {
    stream_ = FileDescriptor(open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  }
  if (!stream_.is_open()) fail(errno);
  write_all(stream_, content);
  // So that the reader sees the end.
  if (!stream_.close()) fail(errno);
}

void OutputFile::replace_file(std::string_view content) {
  FileDescriptor file = open_temporary();
  // Until it has its name, which a lost write, told by close(), must not get.
  const FileDescriptor locked(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  struct stat present {};
  if (stat(target_.path.c_str(), &present) == 0) (void)fchmod(file.get(), present.st_mode & 07777);
  write_all(file, content);
  // Not every file system can sync.
  if (fsync(file.get()) != 0 && errno != EINVAL) fail(errno);
  if (!file.close()) fail(errno);
  if (std::rename(temporary_.c_str(), target_.path.c_str()) != 0) fail(errno);
}

void OutputFile::commit(std::string_view content) {
  if (!is_file()) return write_to_stream(content);
  try {
    replace_file(content);
  } catch (...) {
    discard();
    throw;
  }
}

}  // namespace cachebisect::cli
