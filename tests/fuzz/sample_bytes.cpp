// A sample as cache.disk keeps it: what is read is written again as it was.
#include "stages/support/sample_bytes.hpp"

#include <vector>

#include "fuzz/fuzz_target.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

extern "C" int CACHEBISECT_FUZZ_ENTRY(sample_bytes)(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kCountAt = 4;
  const auto stored = bytes_of(data, size);
  Sample sample;
  if (!stages::from_bytes(stored, sample)) return 0;
  std::vector<std::byte> again;
  stages::to_bytes(sample, again);
  // A name that is there twice is one field.
  const std::size_t count = data[kCountAt] + std::size_t{data[kCountAt + 1]} * 256;
  require(sample.fields().size() <= count, "a sample has no other fields");
  if (sample.fields().size() == count) {
    require(same(stored, again), "a sample that was read is written as it was");
  }
  return 0;
}
