#include "cachebisect/base/file_descriptor.hpp"

#include <cerrno>
#include <utility>

#include <doctest/doctest.h>
#include <fcntl.h>

using cachebisect::FileDescriptor;

namespace {

FileDescriptor open_null() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

}  // namespace

TEST_CASE("a descriptor is closed with its owner") {
  int descriptor = -1;
  {
    const FileDescriptor owner = open_null();
    descriptor = owner.get();
    CHECK(is_open(descriptor));
  }
  CHECK_FALSE(is_open(descriptor));
}

TEST_CASE("a move hands the descriptor over and closes the one it replaces") {
  FileDescriptor first = open_null();
  FileDescriptor second = open_null();
  const int kept = first.get();
  const int replaced = second.get();
  second = std::move(first);
  CHECK(second.get() == kept);
  CHECK(is_open(kept));
  CHECK_FALSE(is_open(replaced));
  CHECK(second.close());
  CHECK_FALSE(second.is_open());
  CHECK(second.close());
}

TEST_CASE("an early close reports its failure") {
  FileDescriptor bad(1000000);
  CHECK_FALSE(bad.close());
  CHECK(errno == EBADF);
  CHECK(cachebisect::errno_text(ENOENT) == "No such file or directory");
}
