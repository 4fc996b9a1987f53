// The floors of the design: which room may include which. Reads the sources, so that no new
// dependency goes unnoticed.
#include "unit/structure/floors.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/files.hpp"
#include "support/source_text.hpp"
#include <doctest/doctest.h>

namespace {

using cachebisect::test::Floor;
using cachebisect::test::floors;
using cachebisect::test::includes_of;
using cachebisect::test::product_sources;
using cachebisect::test::Sources;

const std::vector<Floor> kFloors = floors();

/// Null if there is none of this name.
const Floor* find_floor(const std::string& name) {
  const auto found = std::ranges::find(kFloors, name, &Floor::name);
  return found == kFloors.end() ? nullptr : &*found;
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

constexpr std::string_view kCli = "src/cli/";

/// "bisect" and "costs" of "cachebisect/bisect/costs/model.hpp"; parts that are not there are
/// empty.
struct Place {
  std::string floor;
  std::string room;
};

/// "stages/kernels" of "stages/kernels/crop.hpp": each room of the stages has a rule of its own.
std::string floor_of_stages(std::string_view path) {
  const std::size_t slash = path.find('/', std::string_view("stages/").size());
  const std::string_view room = path.substr(0, slash);
  return slash == std::string_view::npos || room == "stages/include" ? "stages" : std::string(room);
}

Place place_of(std::string_view path) {
  if (path.starts_with("stages/")) return {.floor = floor_of_stages(path), .room = {}};
  constexpr std::string_view kPrefix = "cachebisect/";
  if (!path.starts_with(kPrefix)) return {};
  const auto next = [&path] {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return std::string();
    std::string part(path.substr(0, slash));
    path.remove_prefix(slash + 1);
    return part;
  };
  (void)next();
  Place place;
  place.floor = next();
  place.room = next();
  return place;
}

/// The place of a file of the command by its path below src/cli/, which is how it is included.
Place place_in_cli(std::string_view path) {
  const std::size_t slash = path.find('/');
  const std::string_view room = slash == std::string_view::npos ? "" : path.substr(0, slash);
  return {.floor = "cli", .room = std::string(room)};
}

/// Where a file at this path (from the repository's root) stands; no floor where no rule holds.
Place place_of_source(const std::string& path) {
  if (path.starts_with(kCli)) return place_in_cli(std::string_view(path).substr(kCli.size()));
  if (path.starts_with("stages/")) return place_of(path);
  if (path.starts_with("src/torch/")) return {.floor = "torch", .room = {}};
  if (path.starts_with("src/http_server/")) return {.floor = "http_server", .room = {}};
  if (path.starts_with("src/")) return place_of(std::string_view(path).substr(4));
  return {};
}

bool may_include_room(const Floor& floor, const Place& from, const Place& to) {
  if (floor.rooms.empty()) return true;
  const auto level = [&](const std::string& room) { return std::ranges::find(floor.rooms, room); };
  return level(to.room) <= level(from.room) && level(from.room) != floor.rooms.end();
}

/// Whether a file in one place may include one in the other.
bool may_include(const Place& from, const Place& to) {
  if (from.floor.empty()) return true;
  // What users of the library include.
  if (from.floor == "cli" && to.floor.empty()) return true;
  const Floor* const floor = find_floor(from.floor);
  if (floor == nullptr) return false;
  if (from.floor == to.floor) return may_include_room(*floor, from, to);
  return floor->may_include.contains(to.floor);
}

/// What a file does that its place forbids; empty when it keeps the rules.
std::vector<std::string> violations(const std::string& path, const std::string& source) {
  std::vector<std::string> found;
  const auto forbid = [&](bool broken, const std::string& why) {
    if (broken) found.push_back(path + ": " + why);
  };
  const bool is_header = path.ends_with(".hpp");
  const bool in_torch = path.starts_with("src/torch/");
  const bool in_cli = path.starts_with(kCli);
  const bool in_cuda = path.starts_with("src/cachebisect/device/cuda/");
  const Place place = place_of_source(path);
  for (const std::string& include : includes_of(source)) {
    const bool own_stages = path.starts_with("stages/") && include == "cachebisect/stages.hpp";
    if (starts_with_any(include, {"cachebisect/", "stages/"}) && !own_stages) {
      forbid(!may_include(place, place_of(include)),
             "includes " + include + ", which is not below its own place");
    }
    if (in_cli && starts_with_any(include, {"shell/", "output/", "commands/"})) {
      forbid(!may_include(place, place_in_cli(include)),
             "includes " + include + ", which is not below its own place");
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
    forbid(
        include.starts_with("boost/") && path != "src/cachebisect/base/quantiles.cpp",
        "includes " + include + ", which costs six seconds; only base/quantiles.cpp knows Boost");
    forbid(include.starts_with("CLI/") && !in_cli,
           "includes " + include + "; only the command knows CLI11");
  }
  for (const std::string_view mark : {"__attribute__((constructor", "static const bool registered",
                                      "static bool registered", "Registrar "}) {
    forbid(source.find(mark) != std::string::npos,
           "registers from a static initialiser (" + std::string(mark) + ")");
  }
  return found;
}

/// The path from the repository's root of a file that is included by this name.
std::string included_path(const std::string& include) {
  return include.starts_with("cachebisect/") ? "src/" + include : include;
}

/// Looks for circles of includes by depth-first search; each file is entered once.
class IncludeGraph {
 public:
  explicit IncludeGraph(const Sources& sources) : sources_(sources) {}

  /// A circle as "a.hpp -> b.hpp -> a.hpp"; empty when there is none.
  std::string circle() {
    for (const auto& [path, text] : sources_)
      if (std::string found = visit(path); !found.empty()) return found;
    return {};
  }

 private:
  std::string visit(const std::string& path) {
    const auto source = sources_.find(path);
    if (source == sources_.end() || finished_.contains(path)) return {};
    const auto open = std::find(open_.begin(), open_.end(), path);
    if (open != open_.end()) {
      std::string text;
      for (auto file = open; file != open_.end(); ++file) text += *file + " -> ";
      return text + path;
    }
    open_.push_back(path);
    for (const std::string& include : includes_of(source->second))
      if (std::string found = visit(included_path(include)); !found.empty()) return found;
    open_.pop_back();
    finished_.insert(path);
    return {};
  }

  const Sources& sources_;
  std::vector<std::string> open_;
  std::set<std::string> finished_;
};

}  // namespace

TEST_CASE("every source keeps to its floor") {
  const Sources sources = product_sources();
  CHECK(sources.size() > 30);
  for (const auto& [path, text] : sources)
    for (const std::string& violation : violations(path, text)) FAIL_CHECK(violation);
}

const std::set<std::string> kMachine{"data", "device", "pipeline", "train", "executor", "replay"};
const std::set<std::string> kMethod{"simulate", "remote", "bisect"};
const std::set<std::string> kShown{"report", "history", "compare"};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!name.empty()) text += (text.empty() ? "`" : ", `") + name + "/`";
  }
  return text;
}

/// What a floor includes, in a few words.
std::string included(const Floor& floor) {
  std::set<std::string> rest = floor.may_include;
  std::string text;
  const auto take = [&](const std::set<std::string>& tower, const std::string& words) {
    if (!std::ranges::includes(rest, tower)) return;
    for (const std::string& name : tower) rest.erase(name);
    text += (text.empty() ? "" : ", ") + words;
  };
  take(kMachine, "the machine");
  take(kMethod, "the method");
  take(kShown, "what is shown");
  const std::string names = listed({rest.begin(), rest.end()});
  return text + (text.empty() || names.empty() ? "" : ", ") + names;
}

std::string tower_of(const Floor& floor) {
  if (kMachine.contains(floor.name)) return "the machine: ";
  if (kMethod.contains(floor.name)) return "the method: ";
  return kShown.contains(floor.name) ? "what is shown: " : "";
}

/// The rules as a table of Markdown, the top first.
std::string map_of_floors() {
  std::string table =
      "| room | what it is | its own rooms, lower ones first | includes |\n|---|---|---|---|\n";
  for (auto floor = kFloors.rbegin(); floor != kFloors.rend(); ++floor) {
    table += "| `" + floor->name + "/` | " + tower_of(*floor) + floor->purpose + " | " +
             listed(floor->rooms) + " | " + included(*floor) + " |\n";
  }
  return table;
}

TEST_CASE("the map of the pages is that of these rules") {
  // CACHEBISECT_UPDATE_GOLDEN=1 rewrites it.
  const std::string path = CACHEBISECT_SOURCE_DIR "/docs/extend/extending.md";
  const std::string page = cachebisect::test::read_file(path);
  const std::string begin = "<!-- floors: begin -->\n";
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find("<!-- floors: end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::size_t first = from + begin.size();
  const std::string map = map_of_floors();
  if (std::getenv("CACHEBISECT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << page.substr(0, first) + map + page.substr(to);
  }
  CHECK(cachebisect::test::read_file(path).substr(first, map.size()) == map);
}

TEST_CASE("every room has its rule and its owners") {
  const std::string owners = cachebisect::test::read_file(CACHEBISECT_SOURCE_DIR "/CODEOWNERS");
  for (const auto& entry :
       std::filesystem::directory_iterator(CACHEBISECT_SOURCE_DIR "/src/cachebisect")) {
    if (!entry.is_directory()) continue;
    CAPTURE(entry.path().string());
    const std::string room = entry.path().filename().string();
    CHECK(find_floor(room) != nullptr);
    CHECK(owners.find("\n/src/cachebisect/" + room + "/ ") != std::string::npos);
  }
}

TEST_CASE("no include goes in a circle") {
  const Sources sources = product_sources();
  CHECK(IncludeGraph(sources).circle() == "");
}

TEST_CASE("a circle of includes is found") {
  const Sources circle{
      {"src/cachebisect/a.hpp", "#include \"cachebisect/b.hpp\"\n"},
      {"src/cachebisect/b.hpp", "#include <vector>\n#include \"stages/c.hpp\"\n"},
      {"stages/c.hpp", "#include \"cachebisect/b.hpp\"\n"},
  };
  CHECK(IncludeGraph(circle).circle() ==
        "src/cachebisect/b.hpp -> stages/c.hpp -> src/cachebisect/b.hpp");
  const Sources diamond{
      {"stages/a.hpp", "#include \"stages/b.hpp\"\n#include \"stages/c.hpp\"\n"},
      {"stages/b.hpp", "#include \"stages/c.hpp\"\n"},
      {"stages/c.hpp", ""},
  };
  CHECK(IncludeGraph(diamond).circle() == "");
}

TEST_CASE("the check sees what it is there for") {
  const auto count = [](const std::string& path, const std::string& include) {
    return violations(path, "#include " + include + "\n").size();
  };
  const auto core = [&](const std::string& path, const std::string& include) {
    return count("src/cachebisect/" + path, "\"cachebisect/" + include + "\"");
  };
  CHECK(core("data/field.cpp", "base/error.hpp") == 0);
  CHECK(core("data/field.cpp", "data/field.hpp") == 0);
  CHECK(count("src/cachebisect/base/quantiles.cpp", "<boost/math/distributions/beta.hpp>") == 0);
  CHECK(count("src/cachebisect/base/quantiles.hpp", "<boost/math/distributions/beta.hpp>") == 1);
  CHECK(core("data/field.cpp", "device/device.hpp") == 1);
  CHECK(core("protocol/arm.hpp", "data/field.hpp") == 1);
  CHECK(core("replay/pipeline_replayer.hpp", "protocol/replayer.hpp") == 0);
  CHECK(core("executor/executor.hpp", "replay/loop/train_loop.hpp") == 1);
  for (const char* const machine : {"pipeline/pipeline.hpp", "device/device.hpp", "data/field.hpp",
                                    "train/train_step.hpp", "replay/pipeline_replayer.hpp"}) {
    CHECK(core("bisect/phases/plan.cpp", machine) == 1);
    CHECK(core("simulate/simulated_ring.cpp", machine) == 1);
    CHECK(core("report/writers/text_writer.cpp", machine) == 1);
    CHECK(core("api/call.cpp", machine) == 0);
  }
  CHECK(core("bisect/record/round_table.hpp", "bisect/evidence/findings.hpp") == 1);
  CHECK(core("bisect/costs/fit.hpp", "bisect/report/report.hpp") == 1);
  CHECK(core("bisect/phases/pilot.hpp", "bisect/analysis/explanation.hpp") == 1);
  CHECK(core("bisect/advice/sentence.cpp", "bisect/measure.hpp") == 1);
  CHECK(core("bisect/report/report.hpp", "bisect/record/block_record.hpp") == 0);
  CHECK(core("bisect/phases/plan.cpp", "simulate/simulated_ring.hpp") == 1);
  CHECK(core("simulate/simulated_ring.cpp", "bisect/report/report.hpp") == 1);
  CHECK(core("replay/job/open_job.cpp", "bisect/bisect.hpp") == 1);
  CHECK(core("bisect/search/plan.cpp", "report/writers.hpp") == 1);
  CHECK(core("report/writers/text_writer.cpp", "format/text_layout.hpp") == 0);
  CHECK(core("report/writers/text_writer.cpp", "report/words/job_text.hpp") == 0);
  CHECK(core("report/words/job_text.cpp", "report/html/tiles.hpp") == 1);
  CHECK(core("report/json/json_writer.cpp", "report/writers/formats.hpp") == 1);
  CHECK(core("format/text_layout.hpp", "report/writers.hpp") == 1);
  CHECK(core("format/html/chart.cpp", "protocol/arm.hpp") == 1);
  CHECK(core("format/csv_text.cpp", "format/html/chart.hpp") == 1);
  CHECK(core("format/document/page.cpp", "format/html/chart.hpp") == 0);
  CHECK(core("format/html/chart.cpp", "format/document/document.hpp") == 1);
  CHECK(core("bisect/phases/plan.cpp", "format/text_layout.hpp") == 1);
  CHECK(core("pipeline/stage.hpp", "pipeline/file/json_reader.hpp") == 1);
  CHECK(core("replay/cache/boundary_cache.cpp", "replay/loop/device_chain.hpp") == 0);
  CHECK(core("replay/loop/train_loop.cpp", "replay/cache/boundary_cache.hpp") == 1);
  CHECK(core("replay/reading/live_reading.hpp", "replay/pipeline_replayer.hpp") == 1);
  CHECK(core("replay/pipeline_replayer.cpp", "replay/job/open_job.hpp") == 1);
  CHECK(core("replay/job/open_job.hpp", "replay/pipeline_replayer.hpp") == 0);
  CHECK(core("replay/attic/thing.hpp", "replay/loop/train_loop.hpp") == 1);
  CHECK(core("api/call.cpp", "report/writers.hpp") == 0);
  CHECK(core("api/call.cpp", "doctor/doctor.hpp") == 1);
  CHECK(core("api/call.cpp", "cachebisect.hpp") == 1);
  CHECK(core("observe/follow_script.cpp", "launch/child_process.hpp") == 0);
  CHECK(core("launch/child_process.cpp", "observe/follow_script.hpp") == 1);
  CHECK(core("timing/step_timer.cpp", "observe/loop_event.hpp") == 0);
  CHECK(core("observe/loop_events.cpp", "timing/step_timer.hpp") == 1);
  CHECK(core("profile/script_groups.cpp", "timing/timing_record.hpp") == 1);
  CHECK(core("attic/thing.cpp", "base/error.hpp") == 1);
  CHECK(count("stages/crop.cpp", "\"cachebisect/pipeline/stage.hpp\"") == 0);
  CHECK(count("stages/crop.cpp", "\"cachebisect/train/train_step.hpp\"") == 1);
  CHECK(count("stages/crop.cpp", "<cuda_runtime.h>") == 1);
  const auto rooms = [&](const std::string& path, const std::string& include) {
    return count("stages/" + path, "\"stages/" + include + "\"");
  };
  for (const char* const room : {"kernels", "codecs", "datasets", "support"}) {
    CHECK(rooms("crop.cpp", room + std::string("/thing.hpp")) == 0);
    CHECK(rooms(room + std::string("/thing.cpp"), room + std::string("/thing.hpp")) == 0);
  }
  for (const char* const room : {"codecs", "datasets", "support"}) {
    CHECK(rooms(room + std::string("/thing.cpp"), "kernels/crop.hpp") == 0);
    CHECK(rooms("kernels/crop.cpp", room + std::string("/thing.hpp")) == 1);
  }
  CHECK(rooms("datasets/photos.cpp", "codecs/jpeg.hpp") == 0);
  CHECK(rooms("modules/opencv.cpp", "codecs/imgcodecs.hpp") == 0);
  CHECK(rooms("datasets/photos.cpp", "support/params.hpp") == 1);
  CHECK(rooms("codecs/jpeg.cpp", "datasets/idx.hpp") == 1);
  CHECK(rooms("codecs/jpeg.cpp", "support/params.hpp") == 1);
  CHECK(rooms("support/params.cpp", "codecs/jpeg.hpp") == 0);
  CHECK(rooms("support/params.cpp", "datasets/idx.hpp") == 1);
  CHECK(rooms("attic/thing.cpp", "kernels/crop.hpp") == 1);
  CHECK(count("stages/kernels/crop.cpp", "\"cachebisect/data/field.hpp\"") == 0);
  CHECK(count("stages/kernels/crop.cpp", "\"cachebisect/pipeline/params.hpp\"") == 1);
  CHECK(count("stages/codecs/jpeg.cpp", "\"cachebisect/data/field.hpp\"") == 1);
  CHECK(count("src/cachebisect/pipeline/stage.cpp", "\"stages/kernels/crop.hpp\"") == 1);
  CHECK(count("src/cachebisect/device/cuda/stream.cpp", "<cuda_runtime.h>") == 0);
  CHECK(count("src/cachebisect/train/module.cpp", "<torch/torch.h>") == 1);
  CHECK(count("src/torch/model.hpp", "<torch/torch.h>") == 1);
  CHECK(count("src/torch/model.cpp", "<torch/torch.h>") == 0);
  CHECK(count("src/torch/model.cpp", "\"cachebisect/replay/pipeline_replayer.hpp\"") == 1);
  CHECK(count("src/http_server/server.cpp", "\"cachebisect/emulator/object_service.hpp\"") == 0);
  CHECK(count("src/http_server/server.cpp", "\"cachebisect/remote/tcp_socket.hpp\"") == 1);
  CHECK(core("storage/storage_model.hpp", "protocol/arm.hpp") == 1);
  CHECK(core("emulator/served_folder.cpp", "doctor/doctor.hpp") == 1);
  CHECK(count("src/cachebisect/report/json.hpp", "<nlohmann/json.hpp>") == 1);
  CHECK(count("src/cachebisect/report/json.cpp", "<nlohmann/json.hpp>") == 0);
  CHECK(count("src/cachebisect/report/json.cpp", "<opencv2/core.hpp>") == 1);
  CHECK(count("src/cli/commands/command_time.cpp", "\"output/output_file.hpp\"") == 0);
  CHECK(count("src/cli/commands/command_time.cpp", "\"cachebisect/timing/time_job.hpp\"") == 0);
  CHECK(count("src/cli/main.cpp", "\"commands/commands.hpp\"") == 0);
  CHECK(count("src/cli/output/output_file.cpp", "\"commands/commands.hpp\"") == 1);
  CHECK(count("src/cli/shell/terminal.cpp", "\"output/output_file.hpp\"") == 1);
  CHECK(violations("stages/crop.cpp", "static const bool registered = add();\n").size() == 1);
}
