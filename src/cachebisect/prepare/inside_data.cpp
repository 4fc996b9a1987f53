#include "cachebisect/prepare/inside_data.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

#include "cachebisect/base/error.hpp"

namespace cachebisect::prepare {

void refuse_inside_data(const Pipeline& pipeline, const std::string& folder,
                        const std::string& option) {
  namespace fs = std::filesystem;
  constexpr std::uint64_t kTried = 64;
  const std::uint64_t samples = pipeline.samples();
  std::set<fs::path> folders;
  for (std::uint64_t i = 0; i < std::min(kTried, samples); ++i) {
    const SampleIndex index{i * samples / std::min(kTried, samples)};
    for (const FileRange& range : pipeline.source().files(index)) {
      folders.insert(fs::path(range.path).parent_path().parent_path());
    }
  }
  if (folders.size() != 1 || pipeline.source().files({0}).front().bytes != FileRange::kToEnd)
    return;
  std::error_code error;
  const fs::path data = fs::weakly_canonical(*folders.begin(), error);
  const fs::path out = fs::weakly_canonical(folder, error);
  const auto [rest, unused] = std::mismatch(data.begin(), data.end(), out.begin(), out.end());
  if (error || rest != data.end()) return;
  throw Error(ErrorKind::usage, option + " " + folder + " lies in the data set, " + data.string() +
                                    ", which would take it for samples: name another folder");
}

}  // namespace cachebisect::prepare
