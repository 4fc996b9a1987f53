// An interval that evidence may only narrow.
#pragma once

#include <limits>

#include <doctest/doctest.h>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect::test {

/// The interval of `evidence` after `add` was called so many times; requires that none of the calls
/// widened it.
template <typename Evidence, typename Add>
Interval narrowed_interval(const Evidence& evidence, int times, const Add& add) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  Interval last{-kOpen, kOpen};
  for (int i = 0; i < times; ++i) {
    add();
    const Interval now = evidence.interval();
    REQUIRE(now.low >= last.low);
    REQUIRE(now.high <= last.high);
    last = now;
  }
  return last;
}

}  // namespace cachebisect::test
