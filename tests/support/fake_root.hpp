// A folder that stands for the root of the file system, with its own /proc, /sys and /etc.
#pragma once

#include <string>

#include "support/files.hpp"

namespace cachebisect::test {

class FakeRoot {
 public:
  FakeRoot() {
    write("/proc/cpuinfo",
          "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu hypervisor\n");
    write("/proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n");
    write("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Test OS 1\"\n");
  }

  /// `file` begins with a slash.
  void write(const std::string& file, const std::string& text) const {
    folder_.write(file.substr(1), text);
  }
  [[nodiscard]] std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace cachebisect::test
