#include "cachebisect/base/random.hpp"

#include <cmath>
#include <numbers>

namespace cachebisect {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

std::uint64_t mix(std::uint64_t x) noexcept {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t hash_name(std::string_view name) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash;
}

RandomStream::RandomStream(const RandomKey& key) noexcept {
  const std::uint64_t k = mix(key.seed ^ mix(key.stage));
  const std::uint64_t c = mix(mix(key.epoch) + k);
  key_ = {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
  const std::uint64_t i = key.index ^ c;
  counter_ = {0, static_cast<std::uint32_t>(c >> 16), static_cast<std::uint32_t>(i),
              static_cast<std::uint32_t>(i >> 32)};
}

void RandomStream::refill() noexcept {
  auto key = key_;
  auto x = counter_;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(kMultiplier0) * x[0];
    const std::uint64_t p1 = static_cast<std::uint64_t>(kMultiplier1) * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  block_ = x;
  ++counter_[0];
  used_ = 0;
}

std::uint32_t RandomStream::next_u32() noexcept {
  if (used_ == block_.size()) refill();
  return block_[used_++];
}

std::uint64_t RandomStream::next_u64() noexcept {
  const std::uint64_t high = next_u32();
  return (high << 32) | next_u32();
}

double RandomStream::uniform() noexcept {
  return static_cast<double>(next_u64() >> 11) * 0x1.0p-53;
}

double RandomStream::uniform(double low, double high) noexcept {
  return low + (high - low) * uniform();
}

std::uint64_t RandomStream::below(std::uint64_t bound) noexcept {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next_u64()) * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Wide>(next_u64()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace cachebisect
