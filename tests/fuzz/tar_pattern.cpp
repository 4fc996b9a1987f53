// What names archives: braces, lists and ranges.
#include "fuzz/fuzz_target.hpp"
#include "stages/datasets/tar_paths.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

extern "C" int CACHEBISECT_FUZZ_ENTRY(tar_pattern)(const std::uint8_t* data, std::size_t size) {
  // Below a folder that is not there: the machine's own files do not change the outcome.
  const std::string pattern = "/nowhere/" + std::string(text_of(data, size));
  std::vector<std::string> paths;
  const bool taken =
      takes({ErrorKind::data, ErrorKind::usage}, [&] { paths = stages::tar_paths(pattern); });
  if (taken) {
    require(!paths.empty() && paths.size() <= 1'000'000, "a pattern names some archives");
    require(paths.front().starts_with("/nowhere/"), "what is before a brace stays");
  }
  return 0;
}
