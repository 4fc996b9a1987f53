// Cold reads of many small files: workers as they are, more threads, files told ahead, io_uring.
//
//   cold_files FOLDER [--files N] [--kilobytes K] [--rounds R]
//
// Makes N files below FOLDER if they are not there. Each round reads all of them in a random order
// by each way, the ways in a random order; before each, the pages of the files are dropped from the
// cache (posix_fadvise). What leads to them, inodes and directories, stays there. A line gives
// medians over rounds, with the slowest and the fastest.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/cold_files/readers.hpp"
#include <fcntl.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/base/statistics.hpp"

namespace {

using namespace cold_files;  // NOLINT(google-build-using-namespace): a program of its own
using cachebisect::FileDescriptor;

struct Arguments {
  std::string folder;
  int files = 2000;
  int kilobytes = 110;
  int rounds = 7;
};

Arguments parse(const std::vector<std::string>& words) {
  if (words.empty() || words.size() % 2 == 0) throw std::runtime_error("a folder is needed");
  Arguments arguments{.folder = words.front()};
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const int value = std::atoi(words[i + 1].c_str());
    if (value < 1) throw std::runtime_error(words[i] + " needs a number from 1 on");
    if (words[i] == "--files") {
      arguments.files = value;
    } else if (words[i] == "--kilobytes") {
      arguments.kilobytes = value;
    } else if (words[i] == "--rounds") {
      arguments.rounds = value;
    } else {
      throw std::runtime_error("unknown option " + words[i]);
    }
  }
  return arguments;
}

/// A hundred in each folder, of random bytes.
Paths make_files(const Arguments& arguments) {
  constexpr int kInFolder = 100;
  std::mt19937_64 random(1);
  Paths paths;
  const std::size_t bytes = static_cast<std::size_t>(arguments.kilobytes) * 1000;
  for (int i = 0; i < arguments.files; ++i) {
    const auto folder = std::filesystem::path(arguments.folder) / std::to_string(i / kInFolder);
    std::filesystem::create_directories(folder);
    paths.push_back((folder / (std::to_string(i) + ".bin")).string());
    std::error_code ignored;
    if (std::filesystem::file_size(paths.back(), ignored) == bytes) continue;
    std::string content(bytes, '\0');
    std::ranges::generate(content, [&random] { return static_cast<char>(random()); });
    std::ofstream(paths.back(), std::ios::binary) << content;
  }
  ::sync();
  return paths;
}

void drop_pages(const Paths& paths) {
  for (const std::string& path : paths) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    static_cast<void>(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED));
  }
}

struct Times {
  std::vector<double> files_per_second;
  std::vector<double> cpu_microseconds;  ///< per file
};

void measure(const Reader& reader, const Paths& paths, std::uint64_t all_bytes, Times& times) {
  drop_pages(paths);
  const double cpu = cachebisect::process_cpu_seconds();
  const double begin = cachebisect::monotonic_seconds();
  if (reader.read(paths) != all_bytes) throw std::runtime_error(reader.name + " read other bytes");
  const double seconds = cachebisect::monotonic_seconds() - begin;
  const auto files = static_cast<double>(paths.size());
  times.files_per_second.push_back(files / seconds);
  times.cpu_microseconds.push_back(1e6 * (cachebisect::process_cpu_seconds() - cpu) / files);
}

std::string shown(std::vector<double> values) {
  std::ranges::sort(values);
  std::string text(64, '\0');
  const double middle = cachebisect::median(values);
  text.resize(static_cast<std::size_t>(std::snprintf(
      text.data(), text.size(), "%8.0f (%.0f to %.0f)", middle, values.front(), values.back())));
  return text;
}

void run(const Arguments& arguments) {
  const std::vector<Reader> readers{threads(1),  threads(2),           threads(8), threads(16),
                                    threads(32), threads_ahead(2, 16), ring(16),   ring(64)};
  Paths paths = make_files(arguments);
  const std::uint64_t bytes = paths.size() * static_cast<std::uint64_t>(arguments.kilobytes) * 1000;
  std::vector<Times> times(readers.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < readers.size(); ++i) order.push_back(i);
  std::mt19937_64 random(2);
  for (int round = 0; round < arguments.rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t way : order) {
      std::ranges::shuffle(paths, random);
      measure(readers[way], paths, bytes, times[way]);
    }
  }
  std::printf("%-26s %-32s %s\n", "", "files/s", "CPU us per file");
  for (std::size_t i = 0; i < readers.size(); ++i) {
    std::printf("%-26s %-32s %s\n", readers[i].name.c_str(),
                shown(times[i].files_per_second).c_str(), shown(times[i].cpu_microseconds).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cold_files: %s\n", error.what());
    return 2;
  }
}
