// Samples that a cache keeps in memory: what they are, what they take, and who may read meanwhile.
#include "stages/support/sample_store.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::stages;

namespace {

std::byte byte_of(std::uint64_t index, std::size_t at) {
  return static_cast<std::byte>(index * 31 + at * 7 + at / 251);
}

void fill(Field& field, const Shape& shape, std::uint64_t index) {
  const auto bytes = field.resize_as<std::uint8_t>(shape);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = std::to_integer<std::uint8_t>(byte_of(index, i));
  }
}

/// A label, `bytes` of an image, and a few numbers.
Sample made(std::uint64_t index, std::int64_t bytes) {
  Sample sample;
  sample.set_index({index});
  sample.set_origin("photo.jpg");
  sample.field("label").set(static_cast<std::int64_t>(index) - 7);
  fill(sample.field("image"), Shape{bytes}, index);
  const auto numbers = sample.field("numbers").resize_as<float>({3});
  std::ranges::fill(numbers, static_cast<float>(index) / 2);
  return sample;
}

bool same(const Field& a, const Field& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.view().is_dense() &&
         std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

/// `got` is what `made` makes.
bool right(const Sample& got, std::uint64_t index, std::int64_t bytes) {
  const Sample wanted = made(index, bytes);
  return got.index() == index && got.origin().to_string() == "photo.jpg" &&
         got.fields().size() == wanted.fields().size() &&
         std::ranges::all_of(wanted.fields(), [&](const Sample::NamedField& named) {
           const Field* const field = got.find(named.name);
           return field != nullptr && same(*field, named.field);
         });
}

bool serves(SampleStore& store, std::uint64_t index, std::int64_t bytes) {
  Sample out;
  return store.find({index}, out) && right(out, index, bytes);
}

std::unique_ptr<SampleStore> store_of(double limit_bytes) {
  return make_sample_store(static_cast<std::uint64_t>(limit_bytes), Eviction::none);
}

/// Small and large ones in turn.
std::int64_t varied_bytes(std::uint64_t index) {
  constexpr std::int64_t kSizes[] = {0, 1, 63, 64, 65, 3072, 16'384, 40'000, 300'000};
  return kSizes[index % std::size(kSizes)];
}

}  // namespace

TEST_CASE("samples of all sizes are served as they were kept") {
  const auto store = store_of(64e6);
  constexpr std::uint64_t kSamples = 500;
  for (std::uint64_t i = 0; i < kSamples; ++i) store->keep(made(i, varied_bytes(i)));
  CHECK(store->use().samples == kSamples);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    CAPTURE(i);
    REQUIRE(serves(*store, i, varied_bytes(i)));
  }
}

TEST_CASE("one buffer shows sample after sample") {
  const auto store = store_of(8e6);
  for (std::uint64_t i = 0; i < 20; ++i) store->keep(made(i, varied_bytes(i % 5)));
  Sample out;
  for (std::uint64_t i = 0; i < 20; ++i) {
    CAPTURE(i);
    REQUIRE(store->find({i}, out));
    REQUIRE(right(out, i, varied_bytes(i % 5)));
  }
}

TEST_CASE("a strided field is kept dense") {
  std::vector<std::uint8_t> values{0, 1, 2, 3, 4, 5};
  Sample sample;
  sample.field("image").share(
      TensorView{reinterpret_cast<std::byte*>(values.data()), DType::uint8, Shape{3, 2}, {1, 3}});
  const auto store = store_of(1e6);
  store->keep(sample);
  values.assign(6, 9);
  Sample out;
  REQUIRE(store->find({0}, out));
  const auto kept = out.field("image").as<std::uint8_t>();
  CHECK(std::vector<int>(kept.begin(), kept.end()) == std::vector<int>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("the bytes held cover all fields") {
  const auto store = store_of(64e6);
  for (std::uint64_t i = 0; i < 60; ++i) store->keep(made(i, varied_bytes(i)));
  for (std::uint64_t i = 0; i < 60; ++i) {
    CAPTURE(i);
    Sample out;
    REQUIRE(store->find({i}, out));
    const auto held = store->held({i});
    for (const Sample::NamedField& named : out.fields()) {
      REQUIRE(named.field.data() >= held.data());
      REQUIRE(named.field.data() + named.field.byte_size() <= held.data() + held.size());
    }
  }
  CHECK(store->held({60}).empty());
  CHECK(store->held({~std::uint64_t{0}}).empty());
}

TEST_CASE("the limit is held, and nearly used") {
  for (const std::int64_t bytes : {800, 3072, 20'000, 600'000}) {
    for (const double limit : {1e6, 7e6, 2e8}) {
      CAPTURE(bytes);
      CAPTURE(limit);
      const auto store = store_of(limit);
      const Sample sample = made(0, bytes);
      for (std::uint64_t i = 0; i < 300'000 && !store->use().full; ++i) {
        Sample next;
        next.begin_from(sample);
        next.set_index({i});
        store->keep(next);
      }
      const CacheUse use = store->use();
      CHECK(use.full);
      CHECK(static_cast<double>(use.bytes) <= limit);
      // A chunk of places and one more sample may not fit.
      CHECK(static_cast<double>(use.bytes) >= limit - 60'000 - static_cast<double>(bytes) * 1.1);
      const double per_sample =
          static_cast<double>(bytes + 20) * 1.05 + static_cast<double>(kCacheSampleBytes);
      CHECK(per_sample * static_cast<double>(use.samples + 2) >= limit - 60'000);
    }
  }
}

TEST_CASE("threads that keep the same samples keep each once, and readers see whole ones") {
  const auto store = store_of(64e6);
  constexpr std::uint64_t kSamples = 3000;
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned thread) {
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      const std::uint64_t index = thread % 2 == 0 ? i : kSamples - 1 - i;
      store->keep(made(index, varied_bytes(index % 6)));
      Sample out;
      const std::uint64_t other = (index * 17 + thread) % kSamples;
      if (store->find({other}, out) && !right(out, other, varied_bytes(other % 6))) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store->use().samples == kSamples);
  for (std::uint64_t i = 0; i < kSamples; ++i) REQUIRE(serves(*store, i, varied_bytes(i % 6)));
}
