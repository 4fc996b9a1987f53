#include "cachebisect/replay/residency.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

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
  explicit TemporaryFile(std::size_t bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("cachebisect-residency-" + std::to_string(getpid()))) {
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
