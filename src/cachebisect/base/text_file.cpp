#include "cachebisect/base/text_file.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::usage, file + ": " + what);
}

}  // namespace

std::string read_text_file(const std::string& file, std::size_t max_bytes,
                           std::string_view document) {
  const std::string remedy = "give the path of " + std::string(document);
  if (file.empty() || file.find('\0') != std::string::npos) {
    refuse("\"\"", "is not a path; " + remedy);
  }
  // O_NONBLOCK: opening a FIFO without a writer must not wait.
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) refuse(file, "cannot be opened: " + errno_text(errno) + "; " + remedy);
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0)
    refuse(file, "cannot be examined: " + errno_text(errno));
  if (S_ISDIR(info.st_mode)) refuse(file, "is a folder; " + remedy + " in it");
  if (!S_ISREG(info.st_mode)) refuse(file, "is not a regular file; give - to read standard input");
  std::string text;
  std::array<char, 65536> chunk{};
  while (text.size() <= max_bytes) {
    const ssize_t got = ::read(descriptor.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(file, "cannot be read: " + errno_text(errno));
    if (got == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace cachebisect
