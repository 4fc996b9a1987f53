#include "cachebisect/base/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cachebisect {
namespace {

constexpr const char* kPartial = ".partial-";

/// A path at which nothing lies: what an earlier process of this number left is removed.
std::string unused(std::string path) {
  std::remove(path.c_str());
  return path;
}

[[noreturn]] void fail(const char* path, const std::string& what) {
  throw Error(ErrorKind::data, std::string(path) + ": " + what);
}

std::string kind_text(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

[[noreturn]] void fail_short(const char* path, std::uint64_t offset, std::uint64_t wanted) {
  fail(path, "ends within the " + std::to_string(wanted) + " bytes from byte " +
                 std::to_string(offset) + "; it was cut short while it was in use");
}

/// That one file may take of those that the process may have, usually 1,024.
std::size_t most_spare_descriptors() {
  constexpr std::size_t kMost = 16;
  constexpr std::size_t kShare = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::size_t>(limit.rlim_cur / kShare, kMost);
}

}  // namespace

FileDescriptor open_regular(const char* path, std::uint64_t& size) {
  // O_NONBLOCK: opening a FIFO without a writer would otherwise wait for one.
  FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) {
    const char* const remedy = errno == EMFILE ? "; allow more by ulimit -n" : "";
    fail(path, "cannot be opened: " + errno_text(errno) + remedy);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "cannot be examined: " + errno_text(errno));
  if (!S_ISREG(status.st_mode)) fail(path, "is " + kind_text(status.st_mode) + ", not a file");
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

void read_exactly(int descriptor, const char* path, std::uint64_t offset,
                  std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "cannot be read: " + errno_text(errno));
    if (got == 0) fail_short(path, offset, out.size());
    done += static_cast<std::size_t>(got);
  }
}

InputFile::InputFile(std::string path)
    : path_(std::move(path)), file_(open_regular(path_.c_str(), size_)) {}

void InputFile::open_per_core() {
  const std::size_t wanted =
      std::min<std::size_t>(std::thread::hardware_concurrency(), most_spare_descriptors());
  // The file itself, not what lies at its path by now.
  const std::string same = "/proc/self/fd/" + std::to_string(file_.get());
  while (per_core_.size() < wanted && wanted > 1) {
    FileDescriptor again(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!again.is_open()) return;
    per_core_.push_back(std::move(again));
  }
}

int InputFile::descriptor() const noexcept {
  if (per_core_.empty()) return file_.get();
  return per_core_[static_cast<unsigned>(::sched_getcpu()) % per_core_.size()].get();
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  read_exactly(descriptor(), path_.c_str(), offset, out);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> first,
                     std::span<std::byte> second) const {
  const std::array<iovec, 2> parts{iovec{first.data(), first.size()},
                                   iovec{second.data(), second.size()}};
  const ssize_t got = ::preadv(descriptor(), parts.data(), 2, static_cast<off_t>(offset));
  if (std::cmp_equal(got, first.size() + second.size())) return;
  // Interrupted or short: plain reads finish it or report the error.
  read(offset, first);
  read(offset + first.size(), second);
}

NewFile::NewFile(std::string path, ErrorKind kind)
    : path_(std::move(path)),
      kind_(kind),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (!file_.is_open()) fail("cannot be made");
}

void NewFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void NewFile::close() {
  if (::fsync(file_.get()) != 0 || !file_.close()) fail("cannot be written");
}

void NewFile::fail(const std::string& what) const {
  throw Error(kind_, path_ + ": " + what + ": " + errno_text(errno));
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  NewFile(path).append(bytes);
}

PartialFile::PartialFile(std::string path)
    : path_(std::move(path)),
      partial_(unused(path_ + kPartial + std::to_string(::getpid()))),
      file_(partial_, ErrorKind::output) {}

PartialFile::~PartialFile() {
  if (!published_) std::remove(partial_.c_str());
}

void PartialFile::publish() {
  file_.close();
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    throw Error(ErrorKind::output, path_ + ": cannot be made: " + errno_text(errno));
  }
  published_ = true;
}

bool PartialFile::has_name(std::string_view name) noexcept {
  return name.find(kPartial) != std::string_view::npos;
}

void replace_file(const std::string& path, std::span<const std::byte> bytes) {
  PartialFile file(path);
  file.append(bytes);
  file.publish();
}

bool exists(const std::string& path) noexcept {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace cachebisect
