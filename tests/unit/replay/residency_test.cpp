#include "cachebisect/replay/reading/residency.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
  explicit TemporaryFile(std::size_t bytes, const std::filesystem::path& folder =
                                                std::filesystem::temp_directory_path())
      : path_(folder / ("cachebisect-residency-" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << std::string(bytes, 'x');
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
  }
}

}  // namespace

TEST_CASE("What was just read is resident, and eviction never makes it more so") {
  constexpr std::uint64_t kBytes = 100'000;
  const TemporaryFile file(8 * kBytes);
  const FileSource source(file.path(), kBytes);
  const std::vector<SampleIndex> indices{{7}, {1}, {2}, {2}};
  read_all(file.path());
  CHECK(resident_share(source, indices) == 1.0);
  evict(source, indices);
  const std::optional<double> after = resident_share(source, indices);
  REQUIRE(after.has_value());
  CHECK(*after >= 0);
  CHECK(*after <= 1);
}

TEST_CASE("Residency is unknown without files, and for files that are gone") {
  const std::vector<SampleIndex> indices{{0}, {3}};
  CHECK_FALSE(resident_share(FileSource("", 100), indices).has_value());
  const FileSource gone("/no/such/file", 100);
  CHECK_FALSE(resident_share(gone, indices).has_value());
  evict(gone, indices);
  CHECK_FALSE(resident_share(FileSource("/dev/null", 100), indices).has_value());
}

TEST_CASE("Only the pages of exactly these samples count") {
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
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // no reading ahead
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

TEST_CASE("cachestat and mincore agree where both answer") {
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

TEST_CASE("Where eviction does not work, the pages are told to be resident") {
  const std::filesystem::path memory = "/dev/shm";  // tmpfs has no other place for its pages
  std::error_code ignored;
  if (!std::filesystem::is_directory(memory, ignored) || access(memory.c_str(), W_OK) != 0) return;
  const TemporaryFile file(8 * page_bytes(), memory);
  const FileSource source(file.path(), page_bytes());
  const std::vector<SampleIndex> indices{{0}, {5}};
  evict(source, indices);
  CHECK(resident_share(source, indices) == 1.0);
}
