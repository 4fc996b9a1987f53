// `--set PATH=VALUE`, one a line, over a pipeline that uses most of the format; and as a patch.
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "support/fake_registry.hpp"

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

const SpecPaths kSetPaths{.base_folder = "/base", .cache_folder = "/cache"};

std::vector<SpecOverride> overrides_in(std::string_view text) {
  constexpr std::size_t kMostOverrides = 16;
  std::vector<SpecOverride> overrides;
  while (!text.empty() && overrides.size() < kMostOverrides) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = std::min(line.find('='), line.size());
    overrides.push_back({.path = std::string(line.substr(0, equals)),
                         .value = std::string(line.substr(std::min(equals + 1, line.size())))});
  }
  return overrides;
}

void check_same(const PipelineSpec& spec, const Registry& registry) {
  require(parse_pipeline(to_json(spec), "again", registry, kSetPaths) == spec,
          "a pipeline that was changed is written and read again");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(overrides)(const std::uint8_t* data, std::size_t size) {
  static const Registry registry = test::fake_registry();
  static const PipelineSpec spec = parse_pipeline(test::kFakePipeline, "fuzz", registry, kSetPaths);
  const std::string_view text = text_of(data, size);
  const std::vector<SpecOverride> overrides = overrides_in(text);
  PipelineSpec given;
  const bool at_once = takes({ErrorKind::usage}, [&] {
    given = parse_pipeline(test::kFakePipeline, "fuzz", registry, kSetPaths, overrides);
    check_same(given, registry);
  });
  if (at_once) {
    require(given == change_pipeline(spec, registry, overrides),
            "a change of a pipeline is what it is with its file");
  }
  takes({ErrorKind::usage}, [&] { check_same(patch_pipeline(spec, registry, text), registry); });
  return 0;
}
