#include "cachebisect/pipeline/sampler.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

/// What a permutation depends on.
constexpr std::uint64_t key_of(std::uint64_t seed, std::uint64_t epoch) noexcept {
  return mix(seed + 0x9e3779b97f4a7c15ULL) ^ mix(epoch + 0xbf58476d1ce4e5b9ULL);
}

// Round keys by Weyl steps.
constexpr std::array<std::uint64_t, kRounds> round_keys(std::uint64_t state) noexcept {
  std::array<std::uint64_t, kRounds> keys{};
  for (std::uint64_t& key : keys) key = mix(state += 0x9e3779b97f4a7c15ULL);
  return keys;
}

/// A bijection of [0, size); `x` < size.
std::uint64_t permuted(std::uint64_t size, std::uint64_t key, std::uint64_t x) noexcept {
  if (size < 2) return x;
  const unsigned half_bits =
      std::max(1U, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2);
  const auto keys = round_keys(key);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = x >> half_bits;
    std::uint64_t right = x & mask;
    for (const std::uint64_t round : keys) {
      const std::uint64_t next = left ^ (mix(right ^ round) & mask);
      left = right;
      right = next;
    }
    x = (left << half_bits) | right;
  } while (x >= size);
  return x;
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

Sampler::Sampler(std::uint64_t size, std::uint64_t seed, bool shuffle,
                 const ReadRuns& runs) noexcept
    : size_(size),
      seed_(seed),
      shuffle_(shuffle),
      run_(std::max<std::uint64_t>(1, runs.samples)),
      window_(run_ * std::max<std::uint64_t>(1, runs.mixed)),
      stride_(replacement_stride(size)) {}

SampleIndex Sampler::index(std::uint64_t epoch, std::uint64_t position) const noexcept {
  if (!shuffle_ || size_ < 2) return {position};
  if (run_ > 1) return {in_runs(epoch, position)};
  return {permuted(size_, key_of(seed_, epoch), position)};
}

std::uint64_t Sampler::in_runs(std::uint64_t epoch, std::uint64_t position) const noexcept {
  const std::uint64_t key = key_of(seed_, epoch);
  const std::uint64_t window = position / window_;
  const std::uint64_t first = window * window_;
  const std::uint64_t place =
      first + permuted(std::min(window_, size_ - first), mix(key + window + 1), position - first);
  const std::uint64_t full = size_ / run_;
  const std::uint64_t rest = size_ % run_;
  const std::uint64_t rest_begin = mix(key) % (full + 1) * run_;
  if (place >= rest_begin && place < rest_begin + rest) return full * run_ + place - rest_begin;
  const std::uint64_t in_full = place < rest_begin ? place : place - rest;
  return permuted(full, key, in_full / run_) * run_ + in_full % run_;
}

SampleIndex Sampler::replacement(std::uint64_t epoch, std::uint64_t position,
                                 unsigned attempt) const noexcept {
  const std::uint64_t step = (attempt % size_) * stride_ % size_;
  return index(epoch, (position + step) % size_);
}

Sampler sampler_of(const Pipeline& pipeline) {
  return {pipeline.samples(), pipeline.spec().seed, pipeline.spec().shuffle,
          pipeline.source().read_runs()};
}

}  // namespace cachebisect
