// What the targets in this folder share: their entry point, what they check, and a folder for
// files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/files.hpp"

#include "cachebisect/base/error.hpp"

/// Each NAME.cpp defines `extern "C" int CACHEBISECT_FUZZ_ENTRY(NAME)(const std::uint8_t* data,
/// std::size_t size)`: the entry of libFuzzer, or one of those that corpus_main.cpp calls.
#ifdef CACHEBISECT_LIBFUZZER
#define CACHEBISECT_FUZZ_ENTRY(name) LLVMFuzzerTestOneInput
#else
#define CACHEBISECT_FUZZ_ENTRY(name) fuzz_##name
#endif

namespace cachebisect::fuzz {

/// No target catches what this throws: a property that does not hold is a finding.
inline void require(bool holds, const std::string& property) {
  if (!holds) throw std::logic_error("does not hold: " + property);
}

/// Whether `parse` takes the input: it returns, or throws an Error of one of these kinds with a
/// message that can be shown. What else it throws is a finding.
template <class Parse>
bool takes(std::initializer_list<ErrorKind> refusals, const Parse& parse) {
  constexpr std::size_t kLongestMessage = 8192;
  try {
    parse();
    return true;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    const bool known = std::ranges::find(refusals, error.kind()) != refusals.end();
    if (!known) throw std::logic_error("an error of another kind: " + std::string(message));
    require(!message.empty(), "an error says what is wrong");
    require(message.size() <= kLongestMessage, "a message can be read: " + std::string(message));
    return false;
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// The content as bytes, for comparisons.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

/// A folder of this process: below TMPDIR, else in memory where the system has a folder there.
inline const test::TemporaryFolder& scratch() {
  static const bool in_memory =
      std::getenv("TMPDIR") == nullptr && std::filesystem::is_directory("/dev/shm");
  static const test::TemporaryFolder folder(in_memory ? "/dev/shm"
                                                      : std::filesystem::temp_directory_path());
  return folder;
}

/// Replaces the file of this name in scratch(), and returns its path.
inline std::string put_file(const std::string& name, std::span<const std::byte> content) {
  const std::string path = scratch().path(name);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
  return path;
}

}  // namespace cachebisect::fuzz
