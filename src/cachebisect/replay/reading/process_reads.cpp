#include "cachebisect/replay/reading/process_reads.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {
namespace {

/// In one system call, so that it is known what it adds to the counts.
std::string io_text() {
  constexpr std::size_t kMostBytes = 1024;
  const FileDescriptor file(::open("/proc/self/io", O_RDONLY | O_CLOEXEC));
  std::string text(kMostBytes, '\0');
  const ssize_t got = file.is_open() ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// The number in the line "name: number".
std::optional<double> io_field(const std::string& text, std::string_view name) {
  const std::string key = "\n" + std::string(name) + ": ";
  const std::size_t at = ("\n" + text).find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + key.size() - 1, nullptr);
}

struct ReadsNow {
  ProcessReads counts;
  double own_bytes = 0;  ///< that learning them took, and that are not in them yet
};

ReadsNow reads_now() {
  ReadsNow now;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  now.counts.page_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  const std::string text = io_text();
  now.counts.reads = static_cast<std::uint64_t>(io_field(text, "syscr").value_or(0));
  now.counts.bytes = io_field(text, "rchar").value_or(0);
  now.counts.disk_bytes = io_field(text, "read_bytes");
  now.own_bytes = static_cast<double>(text.size());
  return now;
}

}  // namespace

ReadCounter::ReadCounter() {
  const ReadsNow now = reads_now();
  before_ = now.counts;
  if (now.own_bytes == 0) return;
  before_.bytes += now.own_bytes;
  ++before_.reads;
}

ProcessReads ReadCounter::count() const {
  ProcessReads grown = reads_now().counts;
  grown.page_faults -= before_.page_faults;
  grown.reads -= std::min(grown.reads, before_.reads);
  grown.bytes = std::max(grown.bytes - before_.bytes, 0.0);
  if (grown.disk_bytes && before_.disk_bytes) *grown.disk_bytes -= *before_.disk_bytes;
  return grown;
}

}  // namespace cachebisect
