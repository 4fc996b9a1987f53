// Other load, made on purpose: processes beside this one that burn a core each.
#pragma once

#include <vector>

#include <sys/types.h>

namespace cachebisect::truth {

class Hogs {
 public:
  /// Starts `count` processes; call before any thread is made. Throws Error(internal).
  explicit Hogs(int count);
  /// Ends them.
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::vector<pid_t> children_;
};

}  // namespace cachebisect::truth
