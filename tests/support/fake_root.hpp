// A folder that stands for the root of the file system, with a /proc, a /sys and an /etc of its
// own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace cachebisect::testing {

/// A folder that stands for the file system's root.
class FakeRoot {
 public:
  FakeRoot()
      : path_(std::filesystem::temp_directory_path() / ("fakeroot" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    write("/proc/cpuinfo",
          "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu hypervisor\n");
    write("/proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n");
    write("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Test OS 1\"\n");
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = path_.string() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace cachebisect::testing
