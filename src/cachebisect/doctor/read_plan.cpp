#include "cachebisect/doctor/read_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include <unistd.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/shuffle.hpp"

namespace cachebisect {
namespace {

namespace fs = std::filesystem;

/// Of a folder with millions of files, the first ones tell.
constexpr std::size_t kMostEntries = 50'000;

RandomStream random_stream(std::uint64_t seed) {
  return RandomStream({.seed = seed, .stage = hash_name("doctor")});
}

template <class Item>
void shuffle_by(std::vector<Item>& items, std::uint64_t seed) {
  RandomStream random = random_stream(seed);
  shuffle(items, random);
}

}  // namespace

std::vector<DataFile> find_files(const std::string& folder, std::size_t most) {
  std::vector<DataFile> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         failed);
  std::size_t entries = 0;
  while (!failed && entry != fs::recursive_directory_iterator() && ++entries <= kMostEntries) {
    std::error_code unreadable;
    const bool regular = entry->is_regular_file(unreadable);
    const std::uint64_t bytes = regular ? entry->file_size(unreadable) : 0;
    if (!unreadable && bytes > 0 && access(entry->path().c_str(), R_OK) == 0) {
      files.push_back({entry->path().string(), bytes});
    }
    entry.increment(failed);
  }
  // Folders list their files in no order that others would repeat.
  std::ranges::sort(files, {}, &DataFile::path);
  shuffle_by(files, 1);
  if (files.size() > most) files.resize(most);
  return files;
}

std::vector<PlannedRead> plan_reads(const std::vector<DataFile>& files, std::size_t bytes,
                                    std::size_t count, std::size_t least) {
  std::vector<std::uint64_t> ends;
  ends.reserve(files.size());
  std::uint64_t places = 0;
  for (const DataFile& file : files) ends.push_back(places += file.bytes / bytes);
  if (places < least) return {};
  std::set<std::uint64_t> picked;
  RandomStream random = random_stream(bytes);
  const std::uint64_t wanted = std::min<std::uint64_t>(count, places);
  // Above half of all places, random picks would mostly meet those that are taken.
  if (2 * wanted > places) {
    std::vector<std::uint64_t> all(places);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    shuffle_by(all, bytes);
    picked.insert(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  while (picked.size() < wanted) picked.insert(random.below(places));
  std::vector<PlannedRead> reads;
  for (const std::uint64_t place : picked) {
    const auto file = std::ranges::upper_bound(ends, place);
    const std::uint64_t before = file == ends.begin() ? 0 : *(file - 1);
    reads.push_back(
        {static_cast<std::size_t>(file - ends.begin()), (place - before) * bytes, bytes});
  }
  shuffle_by(reads, bytes + 1);
  return reads;
}

std::optional<FileDescriptor> unnamed_file(const std::string& folder, std::size_t bytes) {
  std::string name = folder + "/doctor-XXXXXX";
  FileDescriptor file(mkstemp(name.data()));
  if (!file.is_open()) return std::nullopt;
  unlink(name.c_str());
  const std::vector<char> piece(std::size_t{1} << 20U, 'x');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t written = write(file.get(), piece.data(), std::min(piece.size(), bytes - done));
    if (written <= 0) return std::nullopt;
    done += static_cast<std::size_t>(written);
  }
  if (fsync(file.get()) != 0) return std::nullopt;
  return file;
}

std::string path_of(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

}  // namespace cachebisect
