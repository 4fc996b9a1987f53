#include "output/output_target.hpp"

#include <optional>
#include <system_error>

#include <unistd.h>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel follows

[[noreturn]] void fail(const fs::path& path, std::errc code) {
  throw fs::filesystem_error("cannot write", path, std::make_error_code(code));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// N if the path is an entry N of this process's folder of descriptors, which /dev/fd points to.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code ignored;
  const std::string folder = fs::canonical(folder_of(path), ignored).string();
  if (!folder.starts_with("/proc/" + std::to_string(getpid()) + "/") || !folder.ends_with("/fd")) {
    return std::nullopt;
  }
  return parse_number<int>(path.filename().string());
}

fs::path next_link(const fs::path& path) { return folder_of(path) / fs::read_symlink(path); }

}  // namespace

OutputTarget resolve_output(const std::string& path) {
  fs::path at = path;
  std::error_code ignored;
  for (int links = 0; links < kMaxLinks; ++links) {
    if (const auto descriptor = own_descriptor(at)) {
      return {OutputTarget::Kind::descriptor, at, *descriptor};
    }
    if (!fs::is_symlink(fs::symlink_status(at, ignored))) break;
    at = next_link(at);
  }
  const fs::file_status status = fs::status(path);  // throws what keeps it from being looked up
  if (fs::is_directory(status)) fail(path, std::errc::is_a_directory);
  if (fs::is_regular_file(status)) return {OutputTarget::Kind::file, fs::canonical(path)};
  if (fs::exists(status)) return {OutputTarget::Kind::stream, path};
  return {OutputTarget::Kind::file, fs::canonical(folder_of(at)) / at.filename()};
}

}  // namespace cachebisect::cli
