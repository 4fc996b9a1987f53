// read.hdf5: data sets that h5py wrote, labels, places, what is refused, threads.
#include <atomic>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "stages/hdf5_sets.hpp"
#include "support/files.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("data sets have the values that h5py reads from them") {
  if (!built_with_hdf5()) return;
  std::istringstream lines(read_file(CACHEBISECT_SOURCE_DIR "/tests/fixtures/hdf5/expected.txt"));
  std::string name;
  std::string type;
  std::string shape;
  std::string hex;
  std::size_t sets = 0;
  for (; lines >> name >> type >> shape >> hex; ++sets) {
    CAPTURE(name);
    const auto source = open_set(kHdf5Sets, name);
    REQUIRE(source->size() == 5);
    CHECK(source->infer()[0].shape == Shape{40});
    CHECK(to_string(source->infer()[0].dtype) == type);
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      expected.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    std::vector<std::byte> all;
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::vector<std::byte> item = item_bytes(*source, i);
      all.insert(all.end(), item.begin(), item.end());
    }
    CHECK(all == expected);
    CHECK(read_sample(*source, 0).origin().to_string() == kHdf5Sets);
    CHECK(has(error_of([&] { read_sample(*source, 5); }), "1: sample 5 of 5"));
  }
  CHECK(sets == 13);
}

TEST_CASE("labels are a data set of the same file") {
  if (!built_with_hdf5()) return;
  const auto source = open_set(kHdf5Sets, "gzip-i8", {{"labels", std::string("labels")}});
  CHECK(source->infer().at(1).name == "label");
  const std::int64_t labels[] = {5, -2, 65'536, 0, 7};
  for (std::uint64_t i = 0; i < 5; ++i)
    CHECK(read_sample(*source, i).field("label").as_integer() == labels[i]);
  CHECK(read_sample(*open_set(kHdf5Sets, "gzip-i8"), 0).find("label") == nullptr);
  const auto refused = [](const std::string& name) {
    return set_error(kHdf5Sets, "gzip-i8", {{"labels", name}});
  };
  CHECK(refused("labels-few") ==
        "2: : the data set \"labels-few\": has the shape [4]; labels are a list of 5, one for each "
        "sample");
  CHECK(has(refused("real"), "has elements of float32; labels are whole numbers"));
  CHECK(has(refused("gzip-i8"), "has the shape [5, 40]"));
  CHECK(has(refused("none"), "3: : the data set \"none\" cannot be opened: "));
}

TEST_CASE("the place of an item is that of its bytes, or of its chunks") {
  if (!built_with_hdf5()) return;
  const std::string file = read_file(kHdf5Sets);
  const auto contiguous = open_set(kHdf5Sets, "contiguous-i4");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::vector<std::byte> item = item_bytes(*contiguous, i);
    const auto places = contiguous->files({i});
    REQUIRE(places.size() == 1);
    REQUIRE(places[0].bytes == item.size());
    CHECK(std::memcmp(file.data() + places[0].offset, item.data(), item.size()) == 0);
  }
  const auto chunked = open_set(kHdf5Sets, "chunked-u1");
  for (const std::uint64_t i : {0, 2, 3, 4}) {
    const std::vector<std::byte> item = item_bytes(*chunked, i);
    const auto places = chunked->files({i});
    REQUIRE(places.size() == 3);
    for (std::size_t c = 0; c < 3; ++c) {
      REQUIRE(places[c].bytes == 48);
      const std::size_t width = c == 2 ? 8 : 16;
      CHECK(std::memcmp(file.data() + places[c].offset + i % 3 * 16, item.data() + 16 * c, width) ==
            0);
    }
  }
  const auto missing = open_set(kHdf5Sets, "missing-i4");
  CHECK(missing->files({0}).size() == 3);
  REQUIRE(missing->files({3}).size() == 1);
  CHECK(missing->files({3})[0].bytes == 0);
  const auto many = open_set(kHdf5Sets, "many-chunks");
  REQUIRE(many->files({7}).size() == 1);
  CHECK(many->files({7})[0].bytes == FileRange::kToEnd);
  CHECK(item_bytes(*many, (std::uint64_t{1} << 40) - 1) == std::vector<std::byte>(16));
}

TEST_CASE("what cannot be read is refused by file and name") {
  if (!built_with_hdf5()) return;
  const auto refused = [](const std::string& name) { return set_error(kHdf5Sets, name); };
  CHECK(
      has(refused("text"),
          "3: : the data set \"text\" has elements that cannot be read; whole numbers of 1 to 8"));
  CHECK(has(refused("scalar"), "has 0 axes; 1 to 6 can be read"));
  CHECK(has(refused("empty"), "has no elements"));
  CHECK(has(refused("virtual"), "is virtual: name what it refers to"));
  CHECK(has(refused("vast"), "claims more elements than fit 64 bits"));
  CHECK(has(refused("none"), "3: : the data set \"none\" cannot be opened: "));
  CHECK(has(refused("group"), "3: : the data set \"group\" cannot be opened: "));

  const TemporaryFolder folder;
  const auto of_file = [&](const std::string& bytes) {
    return set_error(folder.write("a.h5", bytes), "chunked-u1");
  };
  CHECK(has(set_error(folder.path("none.h5"), "x"), "3: : "));
  CHECK(has(set_error(folder.path(), "x"), "is a folder, not a file"));
  CHECK(has(of_file(""), "3: : is no whole HDF5 file: "));
  CHECK(has(of_file(std::string(5000, 'x')), "3: : is no whole HDF5 file: "));
  const std::string whole = read_file(kHdf5Sets);
  CHECK(of_file(whole).empty());
  std::filesystem::remove(folder.path("a.h5"));
  CHECK(has(of_file(whole.substr(0, whole.size() / 2)), "3: : is no whole HDF5 file: "));
}

TEST_CASE("a damaged chunk is refused by its item, and nothing is printed") {
  if (!built_with_hdf5()) return;
  const TemporaryFolder folder;
  for (const std::string name : {"gzip-i8", "lzf-shuffle-i4", "fletcher-i1"}) {
    CAPTURE(name);
    std::string bytes = read_file(kHdf5Sets);
    const FileRange place = open_set(kHdf5Sets, name)->files({0}).front();
    for (std::uint64_t i = 0; i < place.bytes; ++i)
      bytes[place.offset + i] = static_cast<char>(0xE0U | i % 32U);
    const std::string file = folder.write(name + ".h5", bytes);
    CHECK(has(set_error(file, name), "3: : the data set \"" + name + "\" item 0 cannot be read: "));
    CHECK(item_bytes(*open_set(file, name), 4) == item_bytes(*open_set(kHdf5Sets, name), 4));
  }
}

TEST_CASE("threads read at once what one thread reads, and the lock is counted") {
  if (!built_with_hdf5()) return;
  const auto first = open_set(kHdf5Sets, "gzip-shuffle-f4");
  const auto second = open_set(kHdf5Sets, "lzf-shuffle-i4");
  std::atomic<int> wrong{0};
  std::vector<std::vector<std::byte>> expected;
  for (std::uint64_t i = 0; i < 5; ++i) {
    expected.push_back(item_bytes(*first, i));
    expected.push_back(item_bytes(*second, i));
  }
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 200; ++n) {
        const std::uint64_t i = (n + t) % 5;
        if (item_bytes(*first, i) != expected[2 * i]) ++wrong;
        if (item_bytes(*second, i) != expected[2 * i + 1]) ++wrong;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);

  Arena arena;
  Sample sample;
  double serial = 0;
  first->read(sample, SampleContext({.index = 1}, arena, &serial));
  CHECK(serial > 0);
}
