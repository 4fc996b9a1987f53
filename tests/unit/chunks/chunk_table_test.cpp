#include "cachebisect/chunks/chunk_table.hpp"

#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/chunks/chunk_writers.hpp"

using namespace cachebisect;
using cachebisect::test::has;

namespace {

ChunkQuestion images() { return {.chunks = usual_chunks({64, 64})}; }

/// A row found by counting at every place.
struct Counted {
  std::uint64_t fewest = ~std::uint64_t{0};
  std::uint64_t most = 0;
  double mean = 0;
};

Counted count_by_hand(std::uint64_t sample, std::uint64_t chunk, std::uint64_t places) {
  Counted counted;
  for (std::uint64_t o = 0; o < places; ++o) {
    const std::uint64_t touched = (o + sample - 1) / chunk - o / chunk + 1;
    counted.fewest = std::min(counted.fewest, touched);
    counted.most = std::max(counted.most, touched);
    counted.mean += static_cast<double>(touched) / static_cast<double>(places);
  }
  return counted;
}

std::string refusal(const ChunkQuestion& question) {
  return test::usage_error([&] { static_cast<void>(make_chunk_table(question)); });
}

}  // namespace

TEST_CASE("an image of 64x64 pixels has the published table") {
  const ChunkTable table = make_chunk_table(images());
  struct Expected {
    const char* chunk;
    std::uint64_t min_chunks, max_chunks, min_bytes, max_bytes;
  };
  const std::vector<Expected> published{
      {"8x8", 64, 81, 4096, 5184},        {"16x16", 16, 25, 4096, 6400},
      {"32x32", 4, 9, 4096, 9216},        {"64x64", 1, 4, 4096, 16384},
      {"128x128", 1, 4, 16384, 65536},    {"256x256", 1, 4, 65536, 262144},
      {"512x512", 1, 4, 262144, 1048576}, {"1024x1024", 1, 4, 1048576, 4194304}};
  REQUIRE(table.rows.size() == published.size());
  for (std::size_t i = 0; i < published.size(); ++i) {
    CAPTURE(published[i].chunk);
    CHECK(shape_text(table.rows[i].chunk) == published[i].chunk);
    CHECK(table.rows[i].min_chunks == published[i].min_chunks);
    CHECK(table.rows[i].max_chunks == published[i].max_chunks);
    CHECK(table.rows[i].min_bytes == published[i].min_bytes);
    CHECK(table.rows[i].max_bytes == published[i].max_bytes);
  }
}

TEST_CASE("each row is what counting at every place gives, with and without an end of the array") {
  for (std::uint64_t sample = 1; sample <= 9; ++sample) {
    for (std::uint64_t chunk = 1; chunk <= 11; ++chunk) {
      for (std::uint64_t array = sample; array <= sample + 25; array += 3) {
        CAPTURE(sample);
        CAPTURE(chunk);
        CAPTURE(array);
        ChunkQuestion question{.sample = {sample}, .chunks = {{chunk}}};
        const auto check = [&](const Counted& counted) {
          const ChunkRow row = make_chunk_table(question).rows.front();
          CHECK(row.min_chunks == counted.fewest);
          CHECK(row.max_chunks == counted.most);
          CHECK(row.mean_chunks == doctest::Approx(counted.mean));
          CHECK(row.mean_bytes == doctest::Approx(counted.mean * static_cast<double>(chunk)));
        };
        check(count_by_hand(sample, chunk, chunk));
        question.array = ChunkShape{array};
        check(count_by_hand(sample, chunk, array - sample + 1));
      }
    }
  }
}

TEST_CASE("dimensions multiply, elements have bytes, and compression divides them") {
  ChunkQuestion question{.sample = {1, 64, 64, 3},
                         .element_bytes = 4,
                         .chunks = {{10, 32, 32, 3}},
                         .array = ChunkShape{1000, 512, 512, 3}};
  const ChunkRow row = make_chunk_table(question).rows.front();
  CHECK(row.min_chunks == 4);
  CHECK(row.max_chunks == 9);
  CHECK(row.min_bytes == 4 * 10 * 32 * 32 * 3 * 4);
  question.compression = 3;
  CHECK(make_chunk_table(question).rows.front().max_bytes == 9 * 10 * 32 * 32 * 4);
}

TEST_CASE("the fewest bytes are those of small chunks, the fewest requests those of large ones") {
  ChunkTable table = make_chunk_table(images());
  CHECK(table.fewest_bytes == 0);
  CHECK(table.rows[0].mean_bytes == doctest::Approx(71 * 71));
  CHECK(table.fewest_requests == 7);
  CHECK_FALSE(table.fastest.has_value());
}

TEST_CASE("what a request costs decides which chunks are the fastest") {
  ChunkQuestion question = images();
  question.requests = RequestCosts{.latency_seconds = 0, .bytes_per_second = 1e8};
  CHECK(make_chunk_table(question).fastest == 0);
  question.requests->latency_seconds = 0.02;
  const ChunkTable table = make_chunk_table(question);
  CHECK(shape_text(table.rows[*table.fastest].chunk) == "512x512");
  CHECK(table.rows[3].request_seconds == doctest::Approx(0.02 * (127.0 / 64) * (127.0 / 64)));
  question.requests->parallel = 4;
  const ChunkTable parallel = make_chunk_table(question);
  CHECK(shape_text(parallel.rows[*parallel.fastest].chunk) == "64x64");
  CHECK(parallel.rows[3].request_seconds == doctest::Approx(0.02));
}

TEST_CASE("requests in flight are counted in whole turns at every place") {
  ChunkQuestion question{.sample = {5}, .chunks = {{2}}};
  question.requests = RequestCosts{.latency_seconds = 1, .bytes_per_second = 1, .parallel = 3};
  // Of 5 elements in chunks of 2, 3 chunks at every place: one turn.
  CHECK(make_chunk_table(question).rows[0].request_seconds == doctest::Approx(1));
  question.sample = {6};
  // 3 chunks at one place of two, 4 at the other: one turn or two.
  CHECK(make_chunk_table(question).rows[0].request_seconds == doctest::Approx(1.5));
}

TEST_CASE("what does not fit is refused with the place") {
  CHECK(has(refusal({.sample = {64, 64}, .chunks = {{8}}}), "the chunk 8 has 1 dimension"));
  CHECK(has(refusal({.sample = {64}, .chunks = {{8}}, .array = ChunkShape{32}}), "larger than"));
  CHECK(has(refusal({.sample = {64}, .chunks = {{8}}, .array = ChunkShape{99, 9}}), "the array"));
  CHECK(has(refusal({.sample = {64}, .chunks = {}}), "chunk shapes"));
  CHECK(has(refusal({.sample = {64}, .chunks = {{0}}}), "at least 1"));
  CHECK(has(refusal({.sample = {}, .chunks = {{}}}), "at least 1"));
  CHECK(has(refusal({.sample = {64}, .chunks = {{8}}, .compression = 0}), "compression"));
  ChunkQuestion question{.sample = {64}, .chunks = {{8}}, .requests = RequestCosts{}};
  CHECK(has(refusal(question), "bandwidth"));
  question.requests = RequestCosts{-1, 1, 1};
  CHECK(has(refusal(question), "latency"));
  question.requests = RequestCosts{0, 1, 0};
  CHECK(has(refusal(question), "in flight"));
}

TEST_CASE("counts and bytes beyond 64 bits are refused rather than wrong") {
  const std::uint64_t huge = ~std::uint64_t{0};
  CHECK(has(refusal({.sample = {huge, huge}, .chunks = {{1, 1}}}), "64-bit"));
  CHECK(has(refusal({.sample = {2, 2}, .chunks = {{huge, huge}}}), "64-bit"));
  CHECK(has(refusal({.sample = {2}, .chunks = {{1U << 31U}}, .compression = 1e-12}), "64-bit"));
  CHECK(has(refusal({.sample = {huge}, .element_bytes = 1, .chunks = {{huge - 1}}}), "64-bit"));
  const ChunkRow row =
      make_chunk_table({.sample = {huge}, .chunks = {{huge}}, .array = ChunkShape{huge}})
          .rows.front();
  CHECK(row.max_bytes == huge);
}

TEST_CASE("shapes and types are parsed strictly") {
  CHECK(parse_chunk_shape("--sample", "64x64x3") == ChunkShape{64, 64, 3});
  for (const char* const text : {"", "x", "64x", "x64", "0", "64x0", "-1", "6.4", "64X64", "64 x64",
                                 "18446744073709551616", "1x1x1x1x1x1x1x1x1x1x1x1x1", "\x1b[31m"}) {
    CAPTURE(text);
    CHECK(has(test::usage_error([&] { static_cast<void>(parse_chunk_shape("--sample", text)); }),
              "--sample"));
  }
  CHECK(bytes_of_element("--dtype", "float32") == 4);
  CHECK(bytes_of_element("--dtype", "complex128") == 16);
  CHECK(has(test::usage_error([] { static_cast<void>(bytes_of_element("--dtype", "float33")); }),
            "float32"));
}

TEST_CASE("the usual chunks are powers of two of the sample, none twice") {
  CHECK(usual_chunks({64, 64}).size() == 8);
  const std::vector<ChunkShape> flat = usual_chunks({1, 6});
  CHECK(flat.front() == ChunkShape{1, 1});
  CHECK(flat.back() == ChunkShape{16, 96});
  CHECK(flat.size() == 7);
}

TEST_CASE("the CSV has the published columns, and a row per chunk shape") {
  const std::string csv = chunk_csv(make_chunk_table(images()));
  CHECK(csv.starts_with("chunk_size,minimal_chunks,maximal_chunks,minimal_bytes,maximal_bytes,"));
  CHECK(has(csv, "\r\n64x64,1,4,4096,16384,3.937744140625,16129,,\r\n"));
}
