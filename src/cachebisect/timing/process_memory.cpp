#include "cachebisect/timing/process_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/base/proc_files.hpp"

namespace cachebisect {

std::optional<double> peak_memory_bytes() {
  constexpr double kBytes = 1024;
  const auto text = value_of("/proc/self/status", "VmHWM", ':');
  const auto kilobytes = text ? leading_number(*text) : std::nullopt;
  return kilobytes ? std::optional(*kilobytes * kBytes) : std::nullopt;
}

void reset_peak_memory() noexcept {
  // proc(5), clear_refs: 5 resets VmHWM.
  const FileDescriptor file(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return;
  [[maybe_unused]] const auto written = write(file.get(), "5", 1);
}

}  // namespace cachebisect
