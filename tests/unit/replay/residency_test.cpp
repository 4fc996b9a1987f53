#include "cachebisect/replay/reading/residency.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/reading/page_cache.hpp"

using namespace cachebisect;

namespace {

/// Samples of `bytes` bytes in one file, or in none.
class FileSource final : public SourceStage {
 public:
  FileSource(std::string path, std::uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}
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

}  // namespace

TEST_CASE("pages just read are resident, and eviction never adds resident pages") {
  constexpr std::uint64_t kBytes = 100'000;
  const TemporaryFile file(8 * kBytes);
  const FileSource source(file.path(), kBytes);
  const std::vector<SampleIndex> indices{{7}, {1}, {2}, {2}};
  static_cast<void>(test::read_file(file.path()));
  CHECK(resident_share(source, indices) == 1.0);
  evict(source, indices);
  const std::optional<double> after = resident_share(source, indices);
  REQUIRE(after.has_value());
  CHECK(*after >= 0);
  CHECK(*after <= 1);
}

TEST_CASE("residency is unknown without files and for missing files") {
  const std::vector<SampleIndex> indices{{0}, {3}};
  CHECK_FALSE(resident_share(FileSource("", 100), indices).has_value());
  const FileSource gone("/no/such/file", 100);
  CHECK_FALSE(resident_share(gone, indices).has_value());
  evict(gone, indices);
  CHECK_FALSE(resident_share(FileSource("/dev/null", 100), indices).has_value());
}

TEST_CASE("only the pages of exactly these samples count") {
  const std::uint64_t bytes = 256 * page_bytes();
  const TemporaryFile file(8 * bytes);
  const FileSource source(file.path(), bytes);
  const std::vector<SampleIndex> all{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  evict(source, all);
  if (resident_share(source, all) != 0.0) {
    MESSAGE("the temporary folder keeps its pages; not tested here");
    return;
  }
  const int fd = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // no read-ahead
  std::vector<char> read(bytes);
  CHECK(pread(fd, read.data(), bytes, static_cast<off_t>(2 * bytes)) ==
        static_cast<ssize_t>(bytes));
  close(fd);
  const std::vector<SampleIndex> resident{{2}};
  const std::vector<SampleIndex> others{{0}, {1}, {3}, {7}};
  const std::vector<SampleIndex> both{{2}, {5}};
  CHECK(resident_share(source, resident) == 1.0);
  CHECK(resident_share(source, others) == 0.0);
  CHECK(resident_share(source, both) == 0.5);
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
  const std::filesystem::path memory = "/dev/shm";  // tmpfs keeps its pages in memory
  std::error_code ignored;
  if (!std::filesystem::is_directory(memory, ignored) || access(memory.c_str(), W_OK) != 0) return;
  const TemporaryFile file(8 * page_bytes(), memory);
  const FileSource source(file.path(), page_bytes());
  const std::vector<SampleIndex> indices{{0}, {5}};
  evict(source, indices);
  CHECK(resident_share(source, indices) == 1.0);
}
