#include "cachebisect/tune/scratch_folder.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "cachebisect/base/disk_space.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/costs/cache_file.hpp"
#include "cachebisect/doctor/storage_probe.hpp"
#include "cachebisect/tune/climb.hpp"
#include "cachebisect/tune/disk_need.hpp"

namespace cachebisect::tune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_scratch(const std::string& folder, const std::string& why) {
  throw Error(ErrorKind::usage, "--scratch " + folder + ": " + why);
}

bool can_write_to(const fs::path& folder) {
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  path_ = path.has_filename() ? path.string() : path.parent_path().string();
  is_new_ = !fs::exists(path_, error);
  if (!is_new_ && !fs::is_directory(path_, error)) refuse_scratch(folder, "is no folder");
  const fs::path written = is_new_ ? fs::path(path_).parent_path() : fs::path(path_);
  if (!fs::is_directory(written, error)) {
    refuse_scratch(folder, "there is no folder " + written.string());
  }
  if (!can_write_to(written)) refuse_scratch(folder, "this user cannot write there");
}

ScratchFolder::~ScratchFolder() {
  if (is_new_) static_cast<void>(::rmdir(path_.c_str()));
}

void ScratchFolder::create() const {
  std::error_code error;
  fs::create_directory(path_, error);
  if (error) throw Error(ErrorKind::output, path_ + ": cannot be made: " + error.message());
}

std::string ScratchFolder::subfolder(const std::string& name) {
  std::string folder = path_ + "/" + name;
  if (!exists(folder)) own_.insert(folder);
  return folder;
}

void ScratchFolder::check_room(const std::string& written, double bytes) const {
  const double free = free_bytes_at(path_);
  // What is begun has some of its room already, and a full disk can be gone on from.
  if (exists(written) || bytes <= free) return;
  throw Error(ErrorKind::data, path_ + ": about " + format_bytes(bytes) + " are needed, and " +
                                   format_bytes(free) +
                                   " are free: free some space, or name another folder");
}

double ScratchFolder::within_room(const std::string& written, double limit_bytes) const {
  return exists(written) ? limit_bytes : file_limit_within(limit_bytes, free_bytes_at(path_));
}

bool ScratchFolder::fits_in_memory(const ScratchNeed& need, const std::stop_token& stop) const {
  const double available = available_memory().available_bytes;
  if (available <= 0 || need.bytes <= available) return true;
  const StorageFacts disk = probe_storage({.folder = path_}, stop);
  const std::string slow =
      why_too_slow(disk, {.bytes_per_sample = need.bytes_per_sample,
                          .samples_per_second = need.samples_per_second * (1 + kLeastGain)});
  if (!slow.empty()) throw Error(ErrorKind::data, path_ + ": " + slow);
  return false;
}

bool ScratchFolder::remove(const std::string& written,
                           const std::vector<std::string>& names) const {
  if (!own_.contains(written)) return false;
  for (const std::string& name : names) {
    std::string file = written;
    file.append("/").append(name);
    static_cast<void>(std::remove(file.c_str()));
  }
  return ::rmdir(written.c_str()) == 0 || !exists(written);
}

std::vector<std::string> names_of_cache() {
  return {"cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"};
}

}  // namespace cachebisect::tune
