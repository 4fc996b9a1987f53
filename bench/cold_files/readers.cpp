#include "bench/cold_files/readers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/cold_files/ring.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"

namespace cold_files {
namespace {

using cachebisect::FileDescriptor;

void check(bool holds, const std::string& path) {
  if (!holds) throw std::runtime_error(path + ": " + cachebisect::errno_text(errno));
}

FileDescriptor open_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  check(file.is_open(), path);
  return file;
}

std::size_t size_of_file(int file, const std::string& path) {
  struct stat facts {};
  check(::fstat(file, &facts) == 0, path);
  return static_cast<std::size_t>(facts.st_size);
}

std::size_t read_whole(const FileDescriptor& file, const std::string& path,
                       std::vector<char>& buffer) {
  buffer.resize(std::max(buffer.size(), size_of_file(file.get(), path)));
  const ssize_t bytes = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  check(bytes >= 0, path);
  return static_cast<std::size_t>(bytes);
}

/// Calls `work(next)` in so many threads; next() is the index of a file that none has taken.
template <class Work>
std::uint64_t in_threads(int count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> bytes{0};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < count; ++i)
      all.emplace_back([&] { bytes += work([&next] { return next++; }); });
  }
  return bytes;
}

/// One file on its way through a ring.
struct Slot {
  const std::string* path = nullptr;
  FileDescriptor file;
  std::vector<char> buffer;
};

/// Takes the answer for a slot: an open file is read, and one that was read makes place for the
/// next. Returns the bytes that were read.
std::uint64_t take_answer(Ring& ring, Slot& slot, const Ring::Answer& answer) {
  if (answer.result < 0) errno = -answer.result;
  check(answer.result >= 0, *slot.path);
  if (slot.file.is_open()) {
    slot.file = {};
    return static_cast<std::uint64_t>(answer.result);
  }
  slot.file = FileDescriptor(answer.result);
  const std::size_t bytes = size_of_file(answer.result, *slot.path);
  slot.buffer.resize(std::max(slot.buffer.size(), bytes));
  ring.read(answer.result, slot.buffer.data(), static_cast<unsigned>(bytes), answer.request);
  return 0;
}

std::uint64_t read_by_ring(const Paths& paths, unsigned files) {
  Ring ring(files);
  std::vector<Slot> slots(files);
  std::size_t next = 0;
  std::size_t open = 0;
  std::uint64_t bytes = 0;
  const auto begin = [&](std::uint64_t slot) {
    if (next == paths.size()) return;
    slots[slot].path = &paths[next++];
    ring.open_file(slots[slot].path->c_str(), slot);
    ++open;
  };
  for (std::uint64_t slot = 0; slot < files; ++slot) begin(slot);
  while (open > 0) {
    ring.submit_and_wait();
    while (const auto answer = ring.next()) {
      Slot& slot = slots[answer->request];
      bytes += take_answer(ring, slot, *answer);
      if (slot.file.is_open()) continue;
      --open;
      begin(answer->request);
    }
  }
  return bytes;
}

}  // namespace

Reader threads(int count) {
  return {"threads " + std::to_string(count), [count](const Paths& paths) {
            return in_threads(count, [&paths](const auto& next) {
              std::vector<char> buffer;
              std::uint64_t bytes = 0;
              for (std::size_t i = next(); i < paths.size(); i = next())
                bytes += read_whole(open_file(paths[i]), paths[i], buffer);
              return bytes;
            });
          }};
}

Reader threads_ahead(int count, std::size_t ahead) {
  return {"threads " + std::to_string(count) + ", told " + std::to_string(ahead) + " ahead",
          [count, ahead](const Paths& paths) {
            return in_threads(count, [&paths, ahead](const auto& next) {
              std::vector<char> buffer;
              std::deque<std::pair<std::size_t, FileDescriptor>> open;
              std::uint64_t bytes = 0;
              for (;;) {
                for (std::size_t i = paths.size();
                     open.size() <= ahead && (i = next()) < paths.size();) {
                  open.emplace_back(i, open_file(paths[i]));
                  static_cast<void>(
                      ::posix_fadvise(open.back().second.get(), 0, 0, POSIX_FADV_WILLNEED));
                }
                if (open.empty()) return bytes;
                bytes += read_whole(open.front().second, paths[open.front().first], buffer);
                open.pop_front();
              }
            });
          }};
}

Reader ring(unsigned files) {
  return {"io_uring " + std::to_string(files),
          [files](const Paths& paths) { return read_by_ring(paths, files); }};
}

}  // namespace cold_files
