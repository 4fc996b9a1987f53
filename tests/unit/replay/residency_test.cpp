#include "cachebisect/replay/reading/residency.hpp"

#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/file_source.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/reading/files_of.hpp"
#include "cachebisect/replay/reading/page_cache.hpp"

using namespace cachebisect;

namespace {

/// Samples of `bytes` bytes in one file, or in none.
class OneFile final : public SourceStage {
 public:
  OneFile(std::string path, std::uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return 8; }
  [[nodiscard]] SampleSpec infer() override { return {}; }
  void read(Sample& /*out*/, const SampleContext& /*context*/) const override {}
  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (path_.empty()) return {};
    return {{path_, index * bytes_, bytes_}};
  }

 private:
  std::string path_;
  std::uint64_t bytes_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(std::size_t bytes, const std::filesystem::path& parent =
                                                std::filesystem::temp_directory_path())
      : folder_(parent), path_(folder_.write("data", std::string(bytes, 'x'))) {}
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};

/// Files whose paths the kernel holds in memory, as far as a test plays the kernel.
class FakeLookups {
 public:
  [[nodiscard]] FileOpener opener() {
    return {[this](const std::string& path) {
              opened_.insert(path);
              return open(path.c_str(), O_RDONLY | O_CLOEXEC);
            },
            [this](const std::string& path) {
              if (opened_.count(path) > 0) return open(path.c_str(), O_RDONLY | O_CLOEXEC);
              errno = EAGAIN;
              return -1;
            }};
  }
  /// Files that were opened, which brought their paths into memory.
  [[nodiscard]] std::size_t opened() const { return opened_.size(); }

 private:
  std::set<std::string> opened_;
};

std::vector<SampleIndex> first_samples(std::uint64_t count) {
  std::vector<SampleIndex> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back({i});
  return all;
}

/// False, with a message, if the temporary folder keeps its pages.
bool evicted(const SourceStage& source, const std::vector<SampleIndex>& indices) {
  Residency plain;
  plain.evict(source, indices);
  if (plain.share(source, indices) == 0.0) return true;
  MESSAGE("the temporary folder keeps its pages; not tested here");
  return false;
}

}  // namespace

TEST_CASE("pages just read are resident, and eviction never adds resident pages") {
  Residency residency;
  constexpr std::uint64_t kBytes = 100'000;
  const TemporaryFile file(8 * kBytes);
  const OneFile source(file.path(), kBytes);
  const std::vector<SampleIndex> indices{{7}, {1}, {2}, {2}};
  static_cast<void>(test::read_file(file.path()));
  CHECK(residency.share(source, indices) == 1.0);
  residency.evict(source, indices);
  const std::optional<double> after = residency.share(source, indices);
  REQUIRE(after.has_value());
  CHECK(*after >= 0);
  CHECK(*after <= 1);
}

TEST_CASE("residency is unknown without files and for missing files") {
  Residency residency;
  const std::vector<SampleIndex> indices{{0}, {3}};
  CHECK_FALSE(residency.share(OneFile("", 100), indices).has_value());
  const OneFile gone("/no/such/file", 100);
  CHECK_FALSE(residency.share(gone, indices).has_value());
  residency.evict(gone, indices);
  CHECK_FALSE(residency.share(OneFile("/dev/null", 100), indices).has_value());
}

TEST_CASE("only the pages of exactly these samples count") {
  Residency residency;
  const std::uint64_t bytes = 256 * page_bytes();
  const TemporaryFile file(8 * bytes);
  const OneFile source(file.path(), bytes);
  const std::vector<SampleIndex> all{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  if (!evicted(source, all)) return test::skip(test::kPageEviction);
  const int fd = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // no read-ahead
  std::vector<char> read(bytes);
  CHECK(pread(fd, read.data(), bytes, static_cast<off_t>(2 * bytes)) ==
        static_cast<ssize_t>(bytes));
  close(fd);
  const std::vector<SampleIndex> resident{{2}};
  const std::vector<SampleIndex> others{{0}, {1}, {3}, {7}};
  const std::vector<SampleIndex> both{{2}, {5}};
  CHECK(residency.share(source, resident) == 1.0);
  CHECK(residency.share(source, others) == 0.0);
  CHECK(residency.share(source, both) == 0.5);
}

TEST_CASE("cachestat and mincore agree if both are available") {
  const TemporaryFile file(64 * page_bytes());
  const int fd = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  const auto counted = resident_by_cachestat(fd, {3, 40});
  const auto mapped = resident_by_mincore(fd, {3, 40});
  REQUIRE(mapped.has_value());
  CHECK(*mapped <= 37);
  if (counted) CHECK(*counted == *mapped);
  CHECK(resident_pages(fd, {3, 40}) == mapped);
  CHECK(resident_pages(fd, {5, 5}) == 0);
  close(fd);
  CHECK_FALSE(resident_pages(fd, {3, 40}).has_value());
}

TEST_CASE("if eviction does not work, the pages are reported as resident") {
  Residency residency;
  const std::filesystem::path memory = "/dev/shm";  // tmpfs keeps its pages in memory
  if (const auto lacking = test::lacking_writable(memory)) return test::skip(*lacking);
  const TemporaryFile file(8 * page_bytes(), memory);
  const OneFile source(file.path(), page_bytes());
  const std::vector<SampleIndex> indices{{0}, {5}};
  residency.evict(source, indices);
  CHECK(residency.share(source, indices) == 1.0);
}

TEST_CASE("of files whose paths are not in memory, one in 64 is opened and stands for the others") {
  const test::FileSource source(201, 5000);
  const std::vector<SampleIndex> all = first_samples(200);
  FakeLookups lookups;
  Residency residency(lookups.opener());
  CHECK_FALSE(residency.spares_metadata());
  residency.learn(source, {200});
  REQUIRE(residency.spares_metadata());
  CHECK(lookups.opened() == 1);
  CHECK(residency.share(source, all) == 1.0);  // just written
  CHECK(lookups.opened() == 1 + 4);
  if (!evicted(source, all)) return test::skip(test::kPageEviction);
  FakeLookups later;
  Residency after(later.opener());
  after.learn(source, {200});
  CHECK(after.share(source, all) == 0.0);
  CHECK(later.opened() == 1 + 4);
}

TEST_CASE("eviction opens files whose paths are not in memory only if their pages are") {
  const test::FileSource source(201, 5000);
  const std::vector<SampleIndex> all = first_samples(200);
  FakeLookups warm;
  Residency residency(warm.opener());
  residency.learn(source, {200});
  residency.evict(source, all);
  CHECK(warm.opened() == 201);
  if (!evicted(source, all)) return test::skip(test::kPageEviction);
  CHECK(residency.share(source, all) == 0.0);
  FakeLookups cold;
  Residency sparing(cold.opener());
  sparing.learn(source, {200});
  sparing.evict(source, all);
  CHECK(cold.opened() == 1 + 4);
}

TEST_CASE("without cached lookup files are opened as usual") {
  const test::FileSource source(20, 5000);
  int opened = 0;
  Residency residency({[&](const std::string& path) {
                         ++opened;
                         return open(path.c_str(), O_RDONLY | O_CLOEXEC);
                       },
                       [](const std::string& /*path*/) {
                         errno = ENOSYS;
                         return -1;
                       }});
  residency.learn(source, {0});
  CHECK_FALSE(residency.spares_metadata());
  CHECK(residency.share(source, first_samples(20)) == 1.0);
  CHECK(opened == 21);
}

TEST_CASE("the kernel's cached lookup finds files that were just written") {
  const test::FileSource source(20, 5000);
  Residency residency;
  residency.learn(source, {0});
  if (!residency.spares_metadata()) {
    MESSAGE("openat2 with RESOLVE_CACHED does not work here; not tested");
    return;
  }
  CHECK(residency.share(source, first_samples(20)) == 1.0);
}

TEST_CASE("files that vanish are left out") {
  for (const bool throws : {false, true}) {
    CAPTURE(throws);
    const test::FileSource source(10, 5000, throws);
    const std::vector<SampleIndex> all = first_samples(10);
    std::filesystem::remove(source.path(3));
    Residency residency;
    residency.learn(source, {3});
    CHECK(residency.share(source, all) == 1.0);
    residency.evict(source, all);
    CHECK(data_set_bytes(source, all) == 9 * 5000);
    CHECK_FALSE(residency.share(source, std::vector<SampleIndex>{{3}}).has_value());
  }
}

TEST_CASE("the size of a data set is estimated from some of its samples") {
  const test::FileSource source(40, 5000);
  CHECK(data_set_bytes(source, first_samples(7)) == 40 * 5000);
  CHECK(data_set_bytes(OneFile("x", 100), first_samples(2)) == 8 * 100);
  CHECK_FALSE(data_set_bytes(OneFile("", 100), first_samples(2)).has_value());
}
