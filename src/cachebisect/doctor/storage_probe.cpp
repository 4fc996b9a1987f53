#include "cachebisect/doctor/storage_probe.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/doctor/read_plan.hpp"

namespace cachebisect {
namespace {

constexpr std::array<std::size_t, 3> kSizes{4096, std::size_t{64} << 10U, std::size_t{1} << 20U};
constexpr std::array kInFlight{1, 4, 16};
constexpr std::size_t kMostFiles = 2000;
/// That are kept open.
constexpr std::size_t kMostOpen = 256;
constexpr std::size_t kMostReads = 4096;
/// Fewer say nothing about a rate with 16 in flight.
constexpr std::size_t kLeastReads = 48;
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
/// Files of more are no samples, but hold many.
constexpr double kSmallFile = 4e6;
/// Share of a row's time that reads from memory get.
constexpr double kMemoryShare = 0.2;
/// Share of the free space that a file of ours may take.
constexpr double kShareOfFree = 0.1;

/// Opens files for reads at places of their own, which the kernel should not read ahead of.
std::vector<FileDescriptor> opened(const std::vector<DataFile>& files,
                                   const std::vector<PlannedRead>& reads) {
  std::vector<FileDescriptor> open_files(files.size());
  for (const PlannedRead& read : reads) {
    FileDescriptor& file = open_files[read.file];
    if (file.is_open()) continue;
    file = FileDescriptor(open(files[read.file].path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.is_open()) posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);
  }
  return open_files;
}

void evict(const FileDescriptor& file) {
  if (file.is_open()) posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

/// Reads until `out` is full or the file ends; the bytes read, 0 on failure.
std::size_t read_part(int file, std::uint64_t offset, std::vector<char>& out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        pread(file, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

/// A way of making the i-th read.
struct Reader {
  std::size_t count = 0;
  std::function<std::size_t(std::size_t, std::vector<char>&)> read;  ///< bytes that it got
  /// Drops what reads from `begin` to `end` will read from memory.
  std::function<void(std::size_t begin, std::size_t end)> evict;
};

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Makes the reads of `span` on several threads, `again` and again or once, for at most so long.
ReadRate rate_of(const Reader& reader, const Span& span, bool again, int threads, double seconds,
                 const std::stop_token& stop) {
  std::atomic<std::size_t> next{0};
  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  std::vector<double> bytes(static_cast<std::size_t>(threads), 0);
  double began = 0;
  std::barrier together(threads, [&]() noexcept { began = monotonic_seconds(); });
  const auto work = [&](std::size_t thread) {
    std::vector<char> buffer;
    together.arrive_and_wait();
    double before = began;
    while (before - began < seconds && !stop.stop_requested()) {
      const std::size_t i = next.fetch_add(1);
      if (!again && i >= span.end - span.begin) return;
      const std::size_t got = reader.read(span.begin + i % (span.end - span.begin), buffer);
      const double after = monotonic_seconds();
      if (got > 0) times[thread].push_back(after - before);
      bytes[thread] += static_cast<double>(got);
      before = after;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t t = 0; t < times.size(); ++t) helpers.emplace_back(work, t);
  }
  const double took = monotonic_seconds() - began;
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
  ReadRate rate;
  std::vector<double> all;
  for (std::size_t t = 0; t < times.size(); ++t) {
    all.insert(all.end(), times[t].begin(), times[t].end());
    rate.bytes_per_second += bytes[t] / took;
  }
  rate.reads = all.size();
  rate.median_seconds = all.empty() ? 0 : median(all);
  return rate;
}

/// Each row reads parts of its own, so that none finds what another one has brought into memory.
void add_rows(const Reader& reader, std::size_t read_bytes, const StorageProbe& probe,
              const std::stop_token& stop, StorageFacts& facts) {
  const std::size_t share = reader.count / kInFlight.size();
  for (std::size_t i = 0; i < kInFlight.size(); ++i) {
    Span span{i * share, (i + 1) * share};
    StorageRow row{.read_bytes = read_bytes, .in_flight = kInFlight[i], .disk = {}, .memory = {}};
    if (probe.evicts) reader.evict(span.begin, span.end);
    const ReadRate first = rate_of(reader, span, false, row.in_flight, probe.row_seconds, stop);
    if (probe.evicts) row.disk = first;
    span.end = span.begin + std::max<std::uint64_t>(first.reads, 1);
    row.memory = rate_of(reader, span, true, row.in_flight, kMemoryShare * probe.row_seconds, stop);
    facts.rows.push_back(row);
  }
}

Reader reader_of_parts(const std::vector<PlannedRead>& reads,
                       const std::vector<FileDescriptor>& files) {
  return {.count = reads.size(),
          .read =
              [&](std::size_t i, std::vector<char>& buffer) {
                buffer.resize(reads[i].bytes);
                return read_part(files[reads[i].file].get(), reads[i].offset, buffer);
              },
          // Whole files: a part of a large page cannot be dropped.
          .evict =
              [&](std::size_t /*begin*/, std::size_t /*end*/) {
                for (const FileDescriptor& file : files) evict(file);
              }};
}

Reader reader_of_files(const std::vector<DataFile>& files) {
  const auto open_file = [&](std::size_t i) {
    return FileDescriptor(open(files[i].path.c_str(), O_RDONLY | O_CLOEXEC));
  };
  return {.count = files.size(),
          .read =
              [&, open_file](std::size_t i, std::vector<char>& buffer) {
                const FileDescriptor file = open_file(i);
                buffer.resize(static_cast<std::size_t>(files[i].bytes));
                return file.is_open() ? read_part(file.get(), 0, buffer) : 0;
              },
          .evict =
              [open_file](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) evict(open_file(i));
              }};
}

std::vector<PlannedRead> plan_of(const std::vector<DataFile>& files, std::size_t bytes) {
  const std::size_t count = std::min(kMostReads, kMostBytes / bytes);
  return plan_reads(files, bytes, count, kLeastReads);
}

/// False if the folder has too little to read in parts of any size.
bool has_parts(const std::vector<DataFile>& files) {
  return std::ranges::any_of(kSizes,
                             [&](std::size_t size) { return !plan_of(files, size).empty(); });
}

/// Those that are samples, as far as their size tells; none if they are few.
std::vector<DataFile> small_files(const std::vector<DataFile>& files) {
  std::vector<DataFile> small;
  std::ranges::copy_if(files, std::back_inserter(small), [](const DataFile& file) {
    return static_cast<double>(file.bytes) <= kSmallFile;
  });
  const bool most = small.size() >= kLeastReads && 2 * small.size() > files.size();
  return most ? small : std::vector<DataFile>();
}

double free_bytes(const std::string& folder) {
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) return 0;
  return static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
}

void describe_files(const std::vector<DataFile>& files, StorageFacts& facts) {
  facts.files = files.size();
  std::vector<double> sizes;
  sizes.reserve(files.size());
  for (const DataFile& file : files) sizes.push_back(static_cast<double>(file.bytes));
  facts.median_file_bytes = sizes.empty() ? 0 : median(sizes);
}

/// To be read in place of the folder's own; sets `problem` if there can be none.
std::optional<FileDescriptor> own_file(const StorageProbe& probe, StorageFacts& facts) {
  constexpr const char* kTooLittle = "it has too little to read, and ";
  if (kShareOfFree * free_bytes(probe.folder) < static_cast<double>(probe.own_bytes)) {
    facts.problem = std::string(kTooLittle) + "too little room for a file to be read";
    return std::nullopt;
  }
  std::optional<FileDescriptor> file = unnamed_file(probe.folder, probe.own_bytes);
  facts.own_file = file.has_value();
  if (!file) {
    facts.problem =
        std::string(kTooLittle) + "a file cannot be written there: " + errno_text(errno);
  }
  return file;
}

}  // namespace

StorageFacts probe_storage(const StorageProbe& probe, const std::stop_token& stop) {
  StorageFacts facts;
  facts.folder = probe.folder;
  if (!std::filesystem::is_directory(probe.folder)) {
    facts.problem = "there is no such folder";
    return facts;
  }
  std::vector<DataFile> files = find_files(probe.folder, kMostFiles);
  describe_files(files, facts);
  const std::vector<DataFile> samples = small_files(files);
  files.resize(std::min(files.size(), kMostOpen));
  std::optional<FileDescriptor> own;
  if (!has_parts(files) && samples.empty()) {
    own = own_file(probe, facts);
    if (!own) return facts;
    files = {{path_of(*own), probe.own_bytes}};
  }
  for (const std::size_t size : kSizes) {
    const std::vector<PlannedRead> reads = plan_of(files, size);
    if (reads.empty()) continue;
    const std::vector<FileDescriptor> open_files = opened(files, reads);
    add_rows(reader_of_parts(reads, open_files), size, probe, stop, facts);
  }
  if (!samples.empty()) add_rows(reader_of_files(samples), 0, probe, stop, facts);
  return facts;
}

}  // namespace cachebisect
