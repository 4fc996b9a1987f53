// The floors of the design: who may include whom. Reads the sources, so that no floor grows a
// dependency unseen.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;

/// From the ground up.
const std::vector<std::string> kFloors{"base",   "data",   "device", "pipeline", "train",
                                       "replay", "bisect", "report", "api"};

std::optional<std::size_t> level_of(std::string_view floor) {
  const auto found = std::find(kFloors.begin(), kFloors.end(), floor);
  if (found == kFloors.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kFloors.begin());
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// What follows #include in each line of a source, without quotes or angle brackets.
std::vector<std::string> includes_of(const std::string& source) {
  std::vector<std::string> all;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", word);
    const std::size_t close = line.find_first_of(">\"", open + 1);
    if (open == std::string::npos || close == std::string::npos) continue;
    all.push_back(line.substr(open + 1, close - open - 1));
  }
  return all;
}

/// "pipeline" of "cachebisect/pipeline/stage.hpp"; empty for the umbrella header.
std::string floor_of_include(std::string_view include) {
  constexpr std::string_view kPrefix = "cachebisect/";
  include.remove_prefix(kPrefix.size());
  const std::size_t slash = include.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(include.substr(0, slash));
}

/// The highest floor that a file at this path (from the repository's root) may include.
std::optional<std::size_t> reach_of(const std::string& path) {
  if (path.starts_with("stages/")) return level_of("pipeline");
  if (path.starts_with("src/torch/")) return level_of("train");
  if (path.starts_with("src/cachebisect/")) {
    const std::string inside = path.substr(std::string_view("src/").size());
    return level_of(floor_of_include(inside));
  }
  return std::nullopt;
}

/// What a file does that its place forbids; empty when it keeps the rules.
std::vector<std::string> violations(const std::string& path, const std::string& source) {
  std::vector<std::string> found;
  const auto forbid = [&](bool broken, const std::string& why) {
    if (broken) found.push_back(path + ": " + why);
  };
  const bool is_header = path.ends_with(".hpp");
  const bool in_torch = path.starts_with("src/torch/");
  const bool in_cuda = path.starts_with("src/cachebisect/device/cuda/");
  const auto reach = reach_of(path);
  for (const std::string& include : includes_of(source)) {
    if (include.starts_with("cachebisect/") && reach) {
      const std::string floor = floor_of_include(include);
      const auto level = level_of(floor);
      const bool own_stages = path.starts_with("stages/") && include == "cachebisect/stages.hpp";
      forbid(!own_stages && (!level || *level > *reach),
             "includes " + include + " from a floor that is not below its own");
    }
    forbid(!in_torch && starts_with_any(include, {"torch/", "ATen/", "c10/"}),
           "includes " + include + "; only src/torch knows LibTorch");
    forbid(in_torch && is_header && include == "torch/torch.h",
           "a header includes torch/torch.h, which costs every source half a minute");
    forbid(!in_torch && !in_cuda && starts_with_any(include, {"cuda", "cub/", "thrust/", "nvtx"}),
           "includes " + include + "; only device/cuda and src/torch know CUDA");
    forbid(is_header && include == "nlohmann/json.hpp",
           "a header includes nlohmann/json.hpp; include it in the source");
    forbid(!path.starts_with("stages/") && include.starts_with("opencv2/"),
           "includes " + include + "; only stages know OpenCV");
    forbid(include.starts_with("CLI/") && !path.starts_with("src/cli/"),
           "includes " + include + "; only the command knows CLI11");
  }
  for (const std::string_view mark : {"__attribute__((constructor", "static const bool registered",
                                      "static bool registered", "Registrar "}) {
    forbid(source.find(mark) != std::string::npos,
           "registers from a static initialiser (" + std::string(mark) + ")");
  }
  return found;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every source keeps to its floor") {
  const fs::path root(CACHEBISECT_SOURCE_DIR);
  std::size_t files = 0;
  for (const char* const folder : {"src", "stages"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".cu") continue;
      ++files;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      for (const std::string& violation : violations(path, read(entry.path())))
        FAIL_CHECK(violation);
    }
  }
  CHECK(files > 30);
}

TEST_CASE("the check sees what it is there for") {
  const auto count = [](const std::string& path, const std::string& include) {
    return violations(path, "#include " + include + "\n").size();
  };
  CHECK(count("src/cachebisect/data/field.cpp", "\"cachebisect/base/error.hpp\"") == 0);
  CHECK(count("src/cachebisect/data/field.cpp", "\"cachebisect/data/field.hpp\"") == 0);
  CHECK(count("src/cachebisect/data/field.cpp", "\"cachebisect/device/device.hpp\"") == 1);
  CHECK(count("src/cachebisect/bisect/plan.cpp", "\"cachebisect/report/writers.hpp\"") == 1);
  CHECK(count("src/cachebisect/api/call.cpp", "\"cachebisect/report/writers.hpp\"") == 0);
  CHECK(count("src/cachebisect/api/call.cpp", "\"cachebisect/cachebisect.hpp\"") == 1);
  CHECK(count("stages/crop.cpp", "\"cachebisect/pipeline/stage.hpp\"") == 0);
  CHECK(count("stages/crop.cpp", "\"cachebisect/train/train_step.hpp\"") == 1);
  CHECK(count("stages/crop.cpp", "<cuda_runtime.h>") == 1);
  CHECK(count("src/cachebisect/device/cuda/stream.cpp", "<cuda_runtime.h>") == 0);
  CHECK(count("src/cachebisect/train/module.cpp", "<torch/torch.h>") == 1);
  CHECK(count("src/torch/model.hpp", "<torch/torch.h>") == 1);
  CHECK(count("src/torch/model.cpp", "<torch/torch.h>") == 0);
  CHECK(count("src/torch/model.cpp", "\"cachebisect/replay/replayer.hpp\"") == 1);
  CHECK(count("src/cachebisect/report/json.hpp", "<nlohmann/json.hpp>") == 1);
  CHECK(count("src/cachebisect/report/json.cpp", "<nlohmann/json.hpp>") == 0);
  CHECK(count("src/cachebisect/report/json.cpp", "<opencv2/core.hpp>") == 1);
  CHECK(violations("stages/crop.cpp", "static const bool registered = add();\n").size() == 1);
}
