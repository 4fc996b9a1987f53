// A pipeline file with the built-in stages: what is read is written and read again, unchanged.
#include "fuzz/fuzz_target.hpp"
#include "support/all_stages.hpp"

#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

extern "C" int CACHEBISECT_FUZZ_ENTRY(pipeline)(const std::uint8_t* data, std::size_t size) {
  const SpecPaths paths{.base_folder = "/base", .cache_folder = "/cache"};
  const Registry& registry = test::all_stages();
  takes({ErrorKind::usage}, [&] {
    const PipelineSpec spec = parse_pipeline(text_of(data, size), "fuzz", registry, paths);
    require(parse_pipeline(to_json(spec), "again", registry, paths) == spec,
            "a pipeline that was read is written and read again");
  });
  return 0;
}
