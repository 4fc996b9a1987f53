#include "output/output_error.hpp"

#include <cerrno>
#include <filesystem>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::cli {
namespace {

std::string remedy(int code, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  switch (code) {
    case ENOENT:
      return "make the folder first: mkdir -p " + folder.string();
    case ENOSPC:
      return "free space or choose another folder";
    case EROFS:
      return "the file system is read-only: choose another folder";
    case EISDIR:
      return "name a file in it, or use --out for a folder";
    case EPIPE:
      return "its reader has ended";
    case EBADF:
      return "it is not open for writing";
    default:
      return "check the folder's permissions";
  }
}

}  // namespace

void fail_output(const std::string& path, int code) {
  throw Error(ErrorKind::output,
              "cannot write " + path + ": " + errno_text(code) + "; " + remedy(code, path));
}

}  // namespace cachebisect::cli
