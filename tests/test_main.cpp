// Runs the test cases; says which were skipped, and for what the machine lacks.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include "support/lacking.hpp"
#include <doctest/doctest.h>

int main(int argc, char** argv) {
  const int result = doctest::Context(argc, argv).run();
  for (const std::string& lacking : cachebisect::test::skip_reasons()) {
    std::printf("skipped: the machine lacks %s\n", lacking.c_str());
  }
  const bool skipped = result == 0 && !cachebisect::test::skip_reasons().empty();
  return skipped ? cachebisect::test::kSkippedExitCode : result;
}
