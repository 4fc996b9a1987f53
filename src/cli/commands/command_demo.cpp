// `demo`: a planted chain, with a moving picture of what is measured. No data, no GPU.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "commands/bisect_session.hpp"
#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "shell/live_picture.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::cli {
namespace {

/// The step alone takes 8,000 samples/s. Two workers wait 380 us a sample in "tokenize": 5,263.
constexpr const char* kChain = R"({
  "name": "demo", "seed": 1, "batch_size": 32, "workers": 2, "prefetch": 2,
  "stages": [
    {"use": "synthetic.read", "name": "read", "bytes": 16384, "samples": 100000},
    {"use": "synthetic.cpu", "name": "parse", "us": 20},
    {"use": "synthetic.wait", "name": "tokenize", "us": 380},
    {"use": "collate.stack"},
    {"use": "copy.device", "pinned": true, "non_blocking": true, "prefetch": 2}
  ],
  "train": {"kind": "emulated"}, "device": "emulated",
  "emulate": {"step_ms": 4, "copy_gb_per_s": 12, "copy_latency_us": 10}
})";

constexpr const char* kIntroduction =
    "An emulated accelerator trains on 8,000 samples/s. Two workers feed it through five stages, "
    "one of which is too slow. Each stage's output is cached in turn, and training is replayed "
    "from there: where throughput drops, the stage that has joined is to blame.\n";
constexpr const char* kNext =
    "\nYour own job: cachebisect run -- python train.py, or cachebisect --pipeline FILE\n";
constexpr double kDemoSeconds = 8;

/// A folder for the page, which goes again if no page was written.
class PageFolder {
 public:
  PageFolder() {
    std::error_code failure;
    path_ = (std::filesystem::temp_directory_path(failure) / "cachebisect-demo-XXXXXX").string();
    if (failure || ::mkdtemp(path_.data()) == nullptr) {
      throw Error(ErrorKind::output,
                  "no folder for the page could be made among the temporary "
                  "files; name a file with --html FILE");
    }
  }
  ~PageFolder() {
    std::error_code not_empty;
    std::filesystem::remove(path_, not_empty);
  }
  PageFolder(const PageFolder&) = delete;
  PageFolder& operator=(const PageFolder&) = delete;

  [[nodiscard]] std::string page() const { return path_ + "/page.html"; }

 private:
  std::string path_;
};

std::vector<std::string> names_of(const ChainDescription& chain) {
  std::vector<std::string> names;
  for (const StageDescription& stage : chain.stages) names.push_back(stage.name);
  return names;
}

Report measure_demo(const BisectArguments& arguments, Registry& registry, SessionTools& tools) {
  registry = make_registry({});
  const Job job = open_job(parse_pipeline(kChain, "the demo", registry, {}), registry,
                           {.opening = {.stop = tools.options.stop}});
  PipelineReplayer replayer = job.make_replayer();
  LivePicture picture(names_of(replayer.describe()),
                      text_options(arguments.report.color, STDERR_FILENO),
                      !arguments.report.quiet && isatty(STDERR_FILENO) != 0);
  BisectOptions options = tools.options;
  options.progress = [&](const Progress& progress) { picture.show(progress); };
  options.partial = [&, keep = tools.options.partial](const Report& report) {
    keep(report);
    picture.show(report);
  };
  return bisect(replayer, options);
}

int run_demo(BisectArguments& arguments) {
  static_cast<void>(use_color(arguments.report.color, STDOUT_FILENO));
  std::string& page = arguments.report.files["--html"];
  std::optional<PageFolder> folder;
  if (page.empty()) page = folder.emplace().page();
  arguments.budget_seconds = kDemoSeconds;
  arguments.no_progress = true;
  if (!arguments.report.quiet) {
    std::cout << wrap(kIntroduction, terminal_columns(STDOUT_FILENO), 0) << '\n' << std::flush;
  }
  Registry registry;
  const int code = run_session(
      arguments, library_options(arguments),
      {.measure = [&](SessionTools& tools) { return measure_demo(arguments, registry, tools); }});
  if (!arguments.report.quiet) std::cout << kNext;
  return code;
}

}  // namespace

Command add_demo(CLI::App& app) {
  auto arguments = std::make_shared<BisectArguments>();
  ReportDestinations& to = arguments->report;
  app.add_option("--html", to.files["--html"], "the page (in a new folder for temporary files)")
      ->type_name("FILE");
  app.add_flag("--quiet", to.quiet, "neither picture nor report, only the page");
  app.add_option("--color", to.color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run_demo(*arguments); };
}

}  // namespace cachebisect::cli
