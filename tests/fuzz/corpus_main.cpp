// Runs targets without libFuzzer: each file of a target's corpus as it is, then with a fixed number
// of changes of a fixed seed. An input that fails stays in the folder of the program.
//
//     unit_fuzz_tests [TARGET...]
#include <cstdio>
#include <filesystem>
#include <map>
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/mutate.hpp"
#include "fuzz/targets.hpp"
#include "support/fuzz_cases.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kChanges = 100;
const std::string kCorpus = CACHEBISECT_SOURCE_DIR "/tests/fuzz/corpus/";

std::vector<fs::path> files_of(const std::string& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kCorpus + target)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string changed(const std::string& content, std::uint64_t number, const std::string& file) {
  RandomStream random({.seed = 1, .index = number, .stage = hash_name(file)});
  if (number % 2 == 0) {
    if (auto json = mutated_json(content, random)) return *std::move(json);
  }
  return mutated_bytes(content, random);
}

/// False, with what it was, for an input that shows a fault.
bool passes(const Target& target, const std::string& input, const std::string& what) {
  try {
    target.run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    return true;
  } catch (const std::exception& error) {
    const std::string kept = CACHEBISECT_BINARY_DIR "/tests/fuzz-" + std::string(target.name);
    std::ofstream(kept, std::ios::binary) << input;
    std::printf("%s: %s: %s\n  the input: %s\n", target.name, what.c_str(), error.what(),
                kept.c_str());
    return false;
  }
}

bool run_target(const Target& target) {
  const std::vector<fs::path> files = files_of(target.name);
  const std::uint64_t changes = test::fuzz_cases(kChanges);
  for (const fs::path& file : files) {
    const std::string content = test::read_file(file.string());
    if (!passes(target, content, file.string())) return false;
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::string input = changed(content, i, file.filename().string());
      if (!passes(target, input, file.string() + ", change " + std::to_string(i))) return false;
    }
  }
  std::printf("%s: %zu files, %llu changes of each\n", target.name, files.size(),
              static_cast<unsigned long long>(changes));
  return !files.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> named(argv + 1, argv + argc);
  std::size_t found = 0;
  bool good = true;
  for (const Target& target : kTargets) {
    if (!named.empty() && std::ranges::find(named, target.name) == named.end()) continue;
    ++found;
    good = run_target(target) && good;
  }
  if (found < std::max<std::size_t>(named.size(), 1)) {
    std::printf("there is no such target\n");
    return 2;
  }
  return good ? 0 : 1;
}
