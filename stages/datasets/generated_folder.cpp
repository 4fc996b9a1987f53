#include "stages/datasets/generated_folder.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& folder, const GeneratedSet& set,
                       const std::string& what) {
  throw Error(ErrorKind::data, "the " + set.kind + " data set (about " +
                                   std::to_string((set.bytes + 999'999) / 1'000'000) +
                                   " MB) cannot be generated in " + folder + ": " + what +
                                   "; nothing was left behind. Free some space, or give a "
                                   "writable \"path\"");
}

/// A folder next to its target; removed unless it is renamed to the target.
class PartialFolder {
 public:
  explicit PartialFolder(const fs::path& target)
      : path_(target.parent_path() / prefix(target).concat(std::to_string(::getpid()))) {
    fs::create_directory(path_);
  }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  PartialFolder(PartialFolder&&) = delete;
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder() {
    if (kept_) return;
    try {
      fs::remove_all(path_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): removed when the set is generated next
    }
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  void rename_to(const fs::path& target) {
    fs::rename(path_, target);
    kept_ = true;
  }

  /// Removes the partial folders of killed processes; only under the lock.
  static void remove_stale(const fs::path& target) {
    const std::string start = prefix(target).string();
    for (const fs::directory_entry& entry : fs::directory_iterator(target.parent_path())) {
      if (entry.path().filename().string().starts_with(start)) fs::remove_all(entry.path());
    }
  }

 private:
  static fs::path prefix(const fs::path& target) {
    return "." + target.filename().string() + ".partial-";
  }

  fs::path path_;
  bool kept_ = false;
};

std::string marker_text(const GeneratedSet& set) {
  return "{\"generated_by\": \"cachebisect\", \"kind\": \"" + set.kind +
         "\", \"version\": 1, \"samples\": " + std::to_string(set.samples) + "}\n";
}

fs::path normal_path(const std::string& folder) {
  fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void generate_locked(const fs::path& target, const GeneratedSet& set) {
  PartialFolder partial(target);
  set.write(partial.path().string());
  const std::string marker = marker_text(set);
  write_file((partial.path() / kGeneratedMarker).string(),
             std::as_bytes(std::span(marker.data(), marker.size())));
  partial.rename_to(target);
}

}  // namespace

void generate_folder(const std::string& folder, const GeneratedSet& set) {
  const fs::path target = normal_path(folder);
  try {
    fs::create_directories(target.parent_path());
    // The lock is on the parent folder, so that no lock file remains. On a file system without
    // locks, the rename alone keeps the result complete.
    const FileDescriptor parent(
        ::open(target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const bool locked = parent.is_open() && ::flock(parent.get(), LOCK_EX) == 0;
    if (!is_absent(target.string())) return;
    if (locked) PartialFolder::remove_stale(target);
    generate_locked(target, set);
  } catch (const fs::filesystem_error& error) {
    const auto code = static_cast<std::errc>(error.code().value());
    const bool generated_elsewhere =
        code == std::errc::directory_not_empty || code == std::errc::file_exists;
    if (generated_elsewhere && !is_absent(target.string())) return;
    fail(target.string(), set, errno_text(error.code().value()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    fail(target.string(), set, error.what());
  }
}

bool is_generated(const std::string& path) {
  std::error_code ignored;
  const fs::path folder =
      fs::is_directory(path, ignored) ? fs::path(path) : fs::path(path).parent_path();
  return exists((folder / kGeneratedMarker).string());
}

bool is_absent(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(folder, error);
  if (status.type() == fs::file_type::not_found) return true;
  return fs::is_directory(folder, error) && fs::is_empty(folder, error) && !error;
}

ParamSpec if_missing_param() {
  return {.name = "if_missing",
          .type = ParamType::string,
          .doc = "when there is no data at `path`: fail, or generate a data set in the same format",
          .default_value = std::string("fail"),
          .choices = {"fail", "generate"}};
}

ParamSpec generated_samples_param(std::int64_t default_value) {
  return {.name = "generated_samples",
          .type = ParamType::integer,
          .doc = "number of training samples to generate",
          .default_value = default_value,
          .minimum = 10,
          .maximum = 1'000'000};
}

bool generate_if_missing(const Params& params) { return params.string("if_missing") == "generate"; }

}  // namespace cachebisect::stages
