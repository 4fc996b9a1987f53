#include "output/append_file.hpp"

#include <cerrno>
#include <filesystem>
#include <utility>

#include "output/output_error.hpp"
#include "output/output_target.hpp"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cachebisect::cli {
namespace {

constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY;
constexpr mode_t kMode = 0666;

/// Where the file ends; whether its last line has no newline.
struct FileEnd {
  off_t size = 0;
  bool unfinished = false;
};

FileEnd end_of(const FileDescriptor& file) {
  FileEnd end{lseek(file.get(), 0, SEEK_END), false};
  char last = '\n';
  if (end.size > 0 && pread(file.get(), &last, 1, end.size - 1) == 1) end.unfinished = last != '\n';
  return end;
}

bool write_once(const FileDescriptor& file, std::string_view text) {
  ssize_t written = 0;
  do written = write(file.get(), text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written >= 0 && static_cast<std::size_t>(written) < text.size()) errno = ENOSPC;
  return written == static_cast<ssize_t>(text.size());
}

}  // namespace

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {
  const FileDescriptor file(open(path_.c_str(), kFlags | O_NONBLOCK));
  struct stat status {};
  if (file.is_open() && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return;
  if (!file.is_open() && errno == EACCES) fail_output(path_, EACCES);
  OutputFile other(path_);
  if (!other.is_file()) stream_.emplace(std::move(other));
}

bool AppendFile::same_file(const OutputFile& other) const {
  return is_file() && other.replaces(resolve_output(path_).path);
}

void AppendFile::append(std::string_view line) {
  if (stream_) return stream_->commit(line);
  FileDescriptor file(open(path_.c_str(), kFlags | O_CREAT, kMode));
  if (!file.is_open()) fail_output(path_, errno);
  // Not every file system has locks.
  while (flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
  const FileEnd end = end_of(file);
  const std::string text = (end.unfinished ? "\n" : "") + std::string(line);
  if (!write_once(file, text) || (fsync(file.get()) != 0 && errno != EINVAL)) {
    const int code = errno;
    // If this fails too, the part of a line is left out when the history is read.
    (void)(ftruncate(file.get(), end.size) == 0);
    fail_output(path_, code);
  }
  if (!file.close()) fail_output(path_, errno);
}

}  // namespace cachebisect::cli
