// A host program that writes numbers with a comma changes neither what is read nor what is written.
#include <clocale>
#include <cstdlib>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include "golden/sample_report.hpp"
#include "support/errors.hpp"
#include "support/fake_registry.hpp"
#include "support/fake_root.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/doctor/doctor.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/score.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/selftest/summary.hpp"
#include "cachebisect/train/train_step.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// "12.345" and "1,5".
class GermanNumbers final : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

/// The locale of C++ streams, while in scope.
class StreamLocale {
 public:
  StreamLocale()
      : before_(std::locale::global(std::locale(std::locale::classic(), new GermanNumbers))) {}
  ~StreamLocale() { std::locale::global(before_); }
  StreamLocale(const StreamLocale&) = delete;
  StreamLocale& operator=(const StreamLocale&) = delete;

 private:
  std::locale before_;
};

/// The locale of the C library, while in scope: one of the system's, or else one made here.
class CLocale {
 public:
  CLocale() {
    const std::string made = "de_DE.UTF-8";
    setenv("LOCPATH", folder_.path().c_str(), 1);
    const std::string make = "localedef -i de_DE -f UTF-8 " + folder_.path(made) + " 2>/dev/null";
    if (std::system(make.c_str()) == 0 && try_locale(made)) return;
    unsetenv("LOCPATH");
    for (const char* const name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
      if (try_locale(name)) return;
    }
  }
  ~CLocale() {
    std::setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

  [[nodiscard]] bool found() const { return found_; }

 private:
  bool try_locale(const std::string& name) {
    found_ = std::setlocale(LC_ALL, name.c_str()) != nullptr &&
             std::string(std::localeconv()->decimal_point) == ",";
    return found_;
  }

  TemporaryFolder folder_;
  bool found_ = false;
};

selftest::Result some_scores() {
  selftest::Result result;
  selftest::Score score;
  score.seed = 12'345'678;
  score.largest_drop = 0.415;
  score.seconds = 1234.5;
  score.loss = 0.25;
  score.rounds = 12'345;
  result.scores.assign(3, score);
  return result;
}

std::string machine_text() {
  const FakeRoot root;
  root.write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  root.write("/proc/stat",
             "cpu 1 2 3 4 5 6 7 8\ncpu0 1234567 1000 2000 3000 4000 5000 6000 70000\n");
  const MachineInfo machine = probe_machine(root.path());
  const auto times = read_cpu_times(root.path(), {0});
  REQUIRE(times);
  return format_exact(machine.usable_cpus) + " " + format_exact(machine.memory_bytes) + " " +
         std::to_string(times->total) + " " + std::to_string(times->steal);
}

std::string refusals() {
  const auto device = make_cpu_device();
  return error_of([] { make_emulated_step({.step_ms = -1.5}, 1); }) + error_of([&] {
           PipelineBuilder builder;
           const Pipeline pipeline =
               builder.source("read", 8, [](SampleIndex, Sample& out) { out.field("x").set(1.5F); })
                   .collate()
                   .copy()
                   .batch_size(4)
                   .build();
           Executor(pipeline, *device, {.observation_budget = -0.5});
         });
}

/// Everything that reads or writes numbers.
std::string all_numbers() {
  std::string text = to_text(sample_report());
  std::ostringstream json;
  write_json(sample_report(), json);
  selftest::write_json(some_scores(), json);
  text += json.str();
  text += selftest::row(some_scores().scores.front()) + selftest::summary(some_scores().scores);
  text += selftest::to_line(some_scores().scores.front());
  text += selftest::pipeline_json(selftest::draw(7, {.jitter = true}));
  Diagnosis diagnosis;
  diagnosis.memory_gb_per_s = 14.25;
  diagnosis.machine.memory_bytes = 64e9;
  text += to_text(diagnosis);
  const Registry registry = fake_registry();
  const std::vector<SpecOverride> sets{{"emulate.step_ms", "2.75"}, {"batch_size", "12345"}};
  text += to_json(parse_pipeline(kFakePipeline, "test", registry, {".", "/cache"}, sets));
  text += pipeline_schema(registry);
  return text + machine_text() + refusals();
}

}  // namespace

TEST_CASE("the locale of C++ streams changes no number") {
  const std::string expected = all_numbers();
  const StreamLocale german;
  std::ostringstream host;
  host << 12345 << ' ' << 1.5;
  REQUIRE(host.str() == "12.345 1,5");
  CHECK(all_numbers() == expected);
}

TEST_CASE("the locale of the C library changes no number") {
  const std::string expected = all_numbers();
  const CLocale german;
  if (!german.found()) return skip("a locale with a decimal comma, and localedef to make one");
  REQUIRE(std::to_string(1.5).starts_with("1,5"));
  CHECK(all_numbers() == expected);
}
