#include "cachebisect/doctor/page_cache_probe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <sys/vfs.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/doctor/read_plan.hpp"
#include "cachebisect/replay/reading/residency.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kFileBytes = std::size_t{4} << 20U;

struct FileSystem {
  long magic;
  const char* name;
};

// From linux/magic.h and the file systems' own sources.
constexpr std::array<FileSystem, 12> kFileSystems{{{0xEF53, "ext4"},
                                                   {0x01021994, "tmpfs"},
                                                   {0x794C7630, "overlay"},
                                                   {0x58465342, "xfs"},
                                                   {0x9123683E, "btrfs"},
                                                   {0x6969, "nfs"},
                                                   {0x65735546, "fuse"},
                                                   {0x2FC12FC1, "zfs"},
                                                   {0x01021997, "9p"},
                                                   {0x0BD00BD0, "lustre"},
                                                   {0xFF534D42, "cifs"},
                                                   {0xF2F52010, "f2fs"}}};

std::string file_system_of(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return {};
  for (const FileSystem& known : kFileSystems) {
    if (known.magic == static_cast<long>(facts.f_type)) return known.name;
  }
  return {};
}

/// A source of one sample, the file, so that residency and eviction work as in a measurement.
class OneFile final : public SourceStage {
 public:
  explicit OneFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::uint64_t size() const override { return 1; }
  [[nodiscard]] SampleSpec infer() override { return {}; }
  void read(Sample& /*out*/, const SampleContext& /*context*/) const override {}
  [[nodiscard]] std::vector<FileRange> files(SampleIndex /*index*/) const override {
    return {{path_, 0, kFileBytes}};
  }

 private:
  std::string path_;
};

}  // namespace

PageCacheFacts probe_page_cache(const std::string& folder) {
  PageCacheFacts facts;
  facts.folder = folder;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  facts.file_system = file_system_of(folder);
  const auto file = unnamed_file(folder, kFileBytes);
  if (!file) {
    facts.problem = "a file cannot be written there: " + errno_text(errno);
    return facts;
  }
  const OneFile source(path_of(*file));
  const std::array<SampleIndex, 1> sample{SampleIndex{0}};
  Residency residency;
  facts.resident_after_write = residency.share(source, sample);
  residency.evict(source, sample);
  facts.resident_after_eviction = residency.share(source, sample);
  return facts;
}

}  // namespace cachebisect
