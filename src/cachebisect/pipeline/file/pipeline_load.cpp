// Loads a pipeline file from disk.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/base/sha256.hpp"
#include "cachebisect/pipeline/file/json_reader.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::usage, file + ": " + what);
}

// O_NONBLOCK: opening a FIFO without a writer must not wait.
std::string read_file(const std::string& file) {
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open())
    refuse(file, "cannot be opened: " + errno_text(errno) + "; give the path of a pipeline file");
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0)
    refuse(file, "cannot be examined: " + errno_text(errno));
  if (S_ISDIR(info.st_mode)) refuse(file, "is a folder; give the path of a pipeline file in it");
  if (!S_ISREG(info.st_mode)) refuse(file, "is not a regular file; give - to read standard input");
  std::string text;
  std::array<char, 65536> chunk{};
  while (text.size() <= spec::kMaxBytes) {
    const ssize_t got = ::read(descriptor.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(file, "cannot be read: " + errno_text(errno));
    if (got == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::string default_cache_folder() {
  // A relative path must be ignored (XDG Base Directory Specification).
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/cachebisect";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/cachebisect"
                                          : std::string();
}

PipelineSpec load_pipeline(const std::string& file, const Registry& registry,
                           const std::vector<SpecOverride>& overrides) {
  if (file.empty() || file.find('\0') != std::string::npos)
    refuse("\"\"", "is not a path; give the path of a pipeline file");
  const std::string text = read_file(file);
  const SpecPaths paths{.base_folder = std::filesystem::path(file).parent_path().string(),
                        .cache_folder = default_cache_folder()};
  PipelineSpec spec = parse_pipeline(text, file, registry, paths, overrides);
  spec.file = file;
  spec.sha256 = sha256_hex(text);
  return spec;
}

}  // namespace cachebisect
