#include "cachebisect/pipeline/source_print.hpp"

#include <algorithm>
#include <set>

#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/pipeline/remote_source.hpp"

namespace cachebisect {
namespace {

constexpr std::uint64_t kMostSamples = 4096;

std::string facts_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return file;
  return file + ' ' + std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtim.tv_sec) +
         ' ' + std::to_string(status.st_mtim.tv_nsec);
}

std::string fingerprint(const SourceStage& source) {
  const std::uint64_t samples = source.size();
  const std::uint64_t step = std::max<std::uint64_t>(1, samples / kMostSamples);
  std::set<std::string> files;
  for (std::uint64_t index = 0; index < samples; index += step) {
    for (const FileRange& range : source.files({index})) files.insert(range.path);
  }
  std::string facts;
  for (const std::string& file : files) facts += facts_of(file) + '\n';
  const auto* const remote = dynamic_cast<const RemoteSource*>(&source);
  if (remote != nullptr) facts += remote->objects();
  return format_count(samples) + " samples, files " +
         std::to_string(XXH3_64bits(facts.data(), facts.size()));
}

}  // namespace

std::string content_of(const CacheOrigin& origin) {
  std::string content = "cachebisect " + std::string(version()) + "\n" + origin.stages;
  if (origin.source != nullptr) content += fingerprint(*origin.source) + "\n";
  return content;
}

}  // namespace cachebisect
