#include "cachebisect/base/needed_library.hpp"

#include <cstring>
#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("functions of a library are called by their symbols") {
  const NeededLibrary library("libc.so.6", "the C library", "libc6");
  decltype(&std::strlen) length = nullptr;
  library.load(length, "strlen");
  REQUIRE((length != nullptr));
  CHECK(length("four") == 4);
}

TEST_CASE("what a machine lacks is named with the package that has it") {
  const std::string lacking =
      usage_error([] { NeededLibrary("libnone.so.1", "Nothing", "libnone1"); });
  CHECK(has(lacking, "Nothing cannot be opened: libnone.so.1"));
  CHECK(has(lacking, "; install it (Debian's libnone1)"));
  const NeededLibrary library("libc.so.6", "the C library", "libc6");
  void (*function)() = nullptr;
  CHECK(usage_error([&] { library.load(function, "no_such_function"); }) ==
        "the C library has no no_such_function");
}
