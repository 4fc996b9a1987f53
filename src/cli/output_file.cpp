#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target(path_);
  if (std::error_code ignored; std::filesystem::is_directory(target, ignored))
    fail("cannot write", EISDIR);
  const std::string name =
      "." + target.filename().string() + "." + std::to_string(getpid()) + ".tmp";
  temporary_ = (target.parent_path() / name).string();
  constexpr mode_t kMode = 0666;
  file_ = FileDescriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!file_.is_open()) fail("cannot write", errno);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& what, int code) const {
  std::string remedy = "; check the folder's permissions";
  if (code == ENOENT)
    remedy =
        "; make the folder first: mkdir -p " + std::filesystem::path(path_).parent_path().string();
  if (code == ENOSPC) remedy = "; free space or choose another folder";
  if (code == EROFS) remedy = "; the file system is read-only: choose another folder";
  if (code == EISDIR) remedy = "; name a file in it, or use --out for a folder";
  throw Error(ErrorKind::output, what + " " + path_ + ": " + errno_text(code) + remedy);
}

void OutputFile::commit(std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(file_.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  // Not every file system can sync.
  if (fsync(file_.get()) != 0 && errno != EINVAL) fail("cannot write", errno);
  if (!file_.close()) fail("cannot write", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot write", errno);
  temporary_.clear();
}

}  // namespace cachebisect::cli
