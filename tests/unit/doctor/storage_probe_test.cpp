// What storage gives: which files are read, that nothing is left behind, and what is said of it.
#include "cachebisect/doctor/storage_probe.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/doctor/read_plan.hpp"
#include "cachebisect/doctor/storage_table.hpp"
#include "cachebisect/format/document/render.hpp"

using namespace cachebisect;
using test::has;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

void fill(const TemporaryFolder& folder, const std::string& name, std::size_t bytes) {
  folder.write(name, std::string(bytes, 'x'));
}

StorageProbe quick(const std::string& folder) {
  return {.folder = folder, .row_seconds = 0.01, .own_bytes = std::size_t{1} << 20U};
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

StorageFacts facts_of(std::vector<StorageRow> rows) {
  StorageFacts facts;
  facts.folder = "/data";
  facts.files = 1281;
  facts.median_file_bytes = 110e3;
  facts.rows = std::move(rows);
  return facts;
}

ReadRate rate(double bytes_per_second) {
  return {.bytes_per_second = bytes_per_second, .median_seconds = 1e-3, .reads = 100};
}

std::string said(const StorageFacts& facts, const std::optional<StorageNeeds>& needs = {}) {
  std::string text = to_text(storage_document(facts, needs), {.columns = 100});
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

TEST_CASE("the files of a folder are found in its folders, in the same random order each time") {
  const TemporaryFolder data;
  for (int i = 0; i < 20; ++i) {
    fill(data, std::to_string(i % 3) + "/" + std::to_string(i), 10);
  }
  fill(data, "empty", 0);
  fs::create_symlink(data.path() + "/nowhere", data.path() + "/broken");
  const auto files = find_files(data.path(), 100);
  CHECK(files.size() == 20);
  CHECK(std::ranges::all_of(files, [](const DataFile& file) { return file.bytes == 10; }));
  const auto again = find_files(data.path(), 7);
  REQUIRE(again.size() == 7);
  CHECK(again[3].path == files[3].path);
  CHECK(find_files(data.path() + "/nowhere", 7).empty());
}

TEST_CASE("no part of a file is read twice, and none ends behind its file") {
  const std::vector<DataFile> files{{"a", 100'000}, {"b", 4096}, {"c", 4095}, {"d", 1'000'000}};
  const std::uint64_t places = 100'000 / 4096 + 1 + 1'000'000 / 4096;
  for (const std::size_t count : {50UL, 200UL, 100'000UL}) {
    const auto reads = plan_reads(files, 4096, count, 10);
    CHECK(reads.size() == std::min<std::uint64_t>(count, places));
    std::set<std::pair<std::size_t, std::uint64_t>> seen;
    for (const PlannedRead& read : reads) {
      CHECK(read.bytes == 4096);
      CHECK(read.offset + read.bytes <= files[read.file].bytes);
      CHECK(seen.emplace(read.file, read.offset).second);
    }
  }
  CHECK(plan_reads(files, 1 << 20, 10, 10).empty());
  CHECK(plan_reads({}, 4096, 10, 1).empty());
}

TEST_CASE("a folder with too little to read gets a file of ours, which leaves nothing behind") {
  const TemporaryFolder data;
  fill(data, "small", 100);
  const StorageFacts facts = probe_storage(quick(data.path()), {});
  CHECK(facts.problem == "");
  CHECK(facts.own_file);
  CHECK(entries(data.path()) == 1);
  // 1 MiB has 256 places of 4 KiB, and too few of 64 KiB.
  REQUIRE(facts.rows.size() == 3);
  CHECK(facts.rows[0].read_bytes == 4096);
  CHECK(facts.rows[2].in_flight == 16);
  for (const StorageRow& row : facts.rows) {
    REQUIRE(row.memory.has_value());
    CHECK(row.memory->reads > 0);
    CHECK(row.memory->bytes_per_second > 0);
    REQUIRE(row.disk.has_value());
    CHECK(row.disk->reads > 0);
  }
}

TEST_CASE("small files are read whole, and large ones in parts; both are only read") {
  const TemporaryFolder data;
  for (int i = 0; i < 60; ++i) fill(data, std::to_string(i), 3000);
  StorageProbe probe = quick(data.path());
  probe.evicts = false;
  const StorageFacts small = probe_storage(probe, {});
  CHECK_FALSE(small.own_file);
  CHECK(small.files == 60);
  REQUIRE(small.rows.size() == 3);
  CHECK(small.rows[0].read_bytes == 0);
  CHECK_FALSE(small.rows[0].disk.has_value());
  CHECK(small.rows[0].memory->reads > 0);
  CHECK(entries(data.path()) == 60);

  const TemporaryFolder large;
  fill(large, "array", std::size_t{8} << 20U);
  const StorageFacts parts = probe_storage(quick(large.path()), {});
  REQUIRE(parts.rows.size() == 6);
  CHECK(parts.rows[3].read_bytes == 65536);
  CHECK(entries(large.path()) == 1);
}

TEST_CASE("what cannot be read is said, and a stop ends it") {
  CHECK(has(said(probe_storage(quick("/nowhere/at/all"), {})), "there is no such folder"));
  const TemporaryFolder data;
  StorageProbe probe = quick(data.path());
  probe.own_bytes = std::size_t{1} << 50U;
  CHECK(has(said(probe_storage(probe, {})), "too little room"));
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(static_cast<void>(probe_storage(quick(data.path()), stop.get_token())), Error);
  CHECK(entries(data.path()) == 0);
}

TEST_CASE("the table is held against what a job needs") {
  std::vector<StorageRow> rows;
  for (const std::size_t bytes : {4096UL, 65536UL, 1048576UL}) {
    for (const int in_flight : {1, 4}) {
      const double speed = static_cast<double>(bytes) * in_flight * 1000;
      rows.push_back({bytes, in_flight, rate(speed), rate(1e9)});
    }
  }
  StorageNeeds needs{.name = "job", .bytes_per_second = 200e6, .bytes_per_sample = 100e3};
  std::string text = said(facts_of(rows), needs);
  CHECK(has(text, "at random places of 1281 files (110 kB each, median)"));
  CHECK(has(text, "65.5 kB"));
  CHECK(has(text, "reads of 65.5 kB give 262 MB/s with 4 in flight"));
  needs.bytes_per_second = 500e6;
  CHECK(has(said(facts_of(rows), needs), "reads of 65.5 kB give 262 MB/s at most, with 4"));
  rows.push_back({0, 1, std::nullopt, rate(600e6)});
  CHECK(has(said(facts_of(rows), needs), "whole files give 600 MB/s with 1 in flight"));
  needs.bytes_per_sample = 10;
  rows.pop_back();
  CHECK(has(said(facts_of(rows), needs), "reads of 4.1 kB give"));
}
