// Whether a disk is too slow for samples to be read from it.
#include "cachebisect/tune/disk_need.hpp"

#include <string>

#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

namespace {

StorageRow row(std::size_t read_bytes, int in_flight, double bytes_per_second) {
  StorageRow made{.read_bytes = read_bytes, .in_flight = in_flight};
  made.disk = ReadRate{.bytes_per_second = bytes_per_second};
  made.memory = ReadRate{.bytes_per_second = 1e10};
  return made;
}

}  // namespace

TEST_CASE("a disk is too slow if no reads as small as a sample get what is needed") {
  StorageFacts disk;
  disk.rows = {row(4096, 1, 2e7), row(65536, 1, 1e8), row(65536, 16, 3e8), row(1 << 20, 1, 2e9)};
  const auto why = [&](double bytes, double rate) {
    return tune::why_too_slow(disk, {.bytes_per_sample = bytes, .samples_per_second = rate});
  };
  CHECK(why(1e5, 2900).empty());
  CHECK(has(why(1e5, 3100), "gives 300 MB/s, where today's speed takes 310 MB/s"));
  CHECK(why(2e6, 900).empty());
  CHECK(why(100, 190'000).empty());
  CHECK_FALSE(why(100, 210'000).empty());
}

TEST_CASE("of a disk that was not measured nothing is said") {
  StorageFacts disk;
  disk.rows = {{.read_bytes = 4096, .memory = ReadRate{.bytes_per_second = 1}}};
  CHECK(tune::why_too_slow(disk, {.bytes_per_sample = 1e6, .samples_per_second = 1e6}).empty());
  CHECK(tune::why_too_slow({}, {.bytes_per_sample = 1e6, .samples_per_second = 1e6}).empty());
}
