// Other load on the machine: processes that burn a core each.
#pragma once

#include <vector>

#include <sys/types.h>

namespace cachebisect::truth {

class Hogs {
 public:
  /// Starts `count` processes. Call it before any thread starts. Throws Error(internal).
  explicit Hogs(int count);
  /// Kills them.
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::vector<pid_t> children_;
};

}  // namespace cachebisect::truth
