#include "cachebisect/pipeline/file/stage_doc.hpp"

#include <sstream>
#include <string>

#include "support/all_stages.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

void check_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((line.size() <= 80 || line.find(' ', line.find_first_not_of(' ')) == std::string::npos));
    CHECK(!line.ends_with(' '));
  }
  CHECK(text.ends_with('\n'));
}

}  // namespace

TEST_CASE("the text of a stage shows its whole declaration") {
  CHECK(stage_text(fake_registry().stage("augment.random_crop")) ==
        R"(augment.random_crop: cuts a random window
sample stage; random, drawn anew for each sample and epoch

Parameters
  size      an integer from 1 to 16384; required
            edge of the window in pixels
  padding   an integer from 0 to 1024; default 0
            pixels added on each side
  fill      a number from 0 to 1; default none
            value of the padding
  fields    a list of 1 or more strings; default ["image"]
            names of the fields to work on; others pass through
  on_error  one of "fail", "skip"; default "fail"
            a damaged sample fails the run, or is skipped and counted
  name      a string; default none
            name of the stage in reports and --set

Example
  {"use": "augment.random_crop", "size": 32, "padding": 4}
)");
}

TEST_CASE("texts fit in 80 columns") {
  Registry registry = fake_registry();
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  registry.add(StageType{.type = "long.words", .doc = words + "end", .example = "{}"});
  for (const StageType& type : registry.stages()) check_lines(stage_text(type));
}

TEST_CASE("the page lists every stage once, in the order of a chain") {
  Registry registry = fake_registry();
  registry.add(StageType{.type = "zoo.own", .doc = "a plugin's", .example = "{}"});
  const std::string page = stages_markdown(registry);
  std::size_t last = 0;
  for (const char* heading :
       {"\n## read\n", "\n### read.fake\n", "\n## decode\n", "\n## augment\n",
        "\n### augment.normalize\n", "\n### augment.random_crop\n", "\n## collate\n", "\n## copy\n",
        "\n## device\n", "\n## synthetic\n", "\n## zoo\n"}) {
    CAPTURE(heading);
    const std::size_t at = page.find(heading);
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    CHECK(page.find(heading, at + 1) == std::string::npos);
    last = at;
  }
  CHECK(has(page,
            "| `size` | an integer from 1 to 16384 | required | edge of the window in pixels |"));
  CHECK(has(page, R"("none"\|"lognormal"\|"pareto")"));
}

TEST_CASE("every built-in stage is documented with a valid example") {
  const Registry& registry = all_stages();
  const SpecPaths paths{.base_folder = "/base", .cache_folder = "/cache"};
  for (const StageType& type : registry.stages()) {
    CAPTURE(type.type);
    CHECK(!type.doc.empty());
    for (const ParamSpec& param : type.params) {
      CAPTURE(param.name);
      CHECK(!param.doc.empty());
    }
    check_lines(stage_text(type));
    PipelineSpec spec;
    CHECK_NOTHROW(spec.stages = {parse_stage(type.example, type, paths)});
    CHECK(parse_pipeline(to_json(spec), "effective", registry, paths) == spec);
  }
}
