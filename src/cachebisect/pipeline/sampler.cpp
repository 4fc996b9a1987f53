#include "cachebisect/pipeline/sampler.hpp"

#include <array>
#include <numeric>

namespace cachebisect {
namespace {

constexpr unsigned kRounds = 4;

// The finaliser of MurmurHash3 (Appleby): every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

// Round keys by Weyl steps of the mixed (seed, epoch).
constexpr std::array<std::uint64_t, kRounds> round_keys(std::uint64_t seed,
                                                        std::uint64_t epoch) noexcept {
  std::array<std::uint64_t, kRounds> keys{};
  std::uint64_t state = mix(seed + 0x9e3779b97f4a7c15ULL) ^ mix(epoch + 0xbf58476d1ce4e5b9ULL);
  for (std::uint64_t& key : keys) key = mix(state += 0x9e3779b97f4a7c15ULL);
  return keys;
}

// About 0.618 of the size and coprime to it, so that the first `size` attempts are all different,
// and far apart even if damaged samples are neighbours.
std::uint64_t replacement_stride(std::uint64_t size) noexcept {
  if (size < 3) return 1;
  auto stride = static_cast<std::uint64_t>(static_cast<double>(size) * 0.6180339887498949);
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

}  // namespace

Sampler::Sampler(std::uint64_t size, std::uint64_t seed, bool shuffle) noexcept
    : size_(size), seed_(seed), shuffle_(shuffle), stride_(replacement_stride(size)) {
  while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

SampleIndex Sampler::index(std::uint64_t epoch, std::uint64_t position) const noexcept {
  if (!shuffle_ || size_ < 2) return {position};
  const auto keys = round_keys(seed_, epoch);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t x = position;
  do {
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (const std::uint64_t key : keys) {
      const std::uint64_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    x = (left << half_bits_) | right;
  } while (x >= size_);
  return {x};
}

SampleIndex Sampler::replacement(std::uint64_t epoch, std::uint64_t position,
                                 unsigned attempt) const noexcept {
  const std::uint64_t step = (attempt % size_) * stride_ % size_;
  return index(epoch, (position + step) % size_);
}

}  // namespace cachebisect
