#include "cachebisect/emulator/served_folder.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect {
namespace {

std::string name_of_descriptor(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

/// Where an open file lies, links resolved; empty if the system does not say.
std::string place_of_descriptor(const FileDescriptor& file) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink(name_of_descriptor(file).c_str(), path.data(), path.size());
  return size < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(size));
}

/// Without the slashes that it begins with; empty if it is no path to a file below a folder.
std::string relative_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() >= PATH_MAX) return "";
  if (path.find('\0') != std::string_view::npos) return "";
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, end) == "..") return "";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(path);
}

std::string etag_of(const struct stat& info) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "\"%llx-%llx-%llx\"",
                static_cast<unsigned long long>(info.st_size),
                static_cast<unsigned long long>(info.st_mtim.tv_sec),
                static_cast<unsigned long long>(info.st_mtim.tv_nsec));
  return text.data();
}

}  // namespace

std::string http_date(std::int64_t seconds) {
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr int kFirstYear = 1900;
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return http_date(0);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %d %02d:%02d:%02d GMT",
                kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + kFirstYear,
                parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text.data();
}

ServedFolder::ServedFolder(const std::string& folder)
    : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, quote(folder) + ": " + why + "; name the folder of the data");
  };
  if (!folder_.is_open()) refuse(errno_text(errno));
  if (place_of_descriptor(folder_).empty())
    refuse("/proc, which tells where a file lies, is missing");
}

std::optional<ServedFile> ServedFolder::open(std::string_view path) const {
  const std::string relative = relative_path(path);
  if (relative.empty()) return std::nullopt;
  // Found without opening it: to open a device or a FIFO would do something.
  const FileDescriptor found(::openat(folder_.get(), relative.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!found.is_open() || ::fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !is_below(found)) {
    return std::nullopt;
  }
  // The same file, whatever the path leads to by now.
  FileDescriptor file(::open(name_of_descriptor(found).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  return ServedFile{.file = std::move(file),
                    .bytes = static_cast<std::uint64_t>(info.st_size),
                    .etag = etag_of(info),
                    .modified = http_date(info.st_mtim.tv_sec)};
}

bool ServedFolder::is_below(const FileDescriptor& file) const {
  std::string folder = place_of_descriptor(folder_);
  if (folder.empty()) return false;
  if (folder != "/") folder += '/';
  return place_of_descriptor(file).starts_with(folder);
}

}  // namespace cachebisect
