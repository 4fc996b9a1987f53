// Images of many sizes, padded in batches of similar ones.
#include <string>

#include "support/all_stages.hpp"
#include "support/files.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"

using namespace cachebisect;

namespace {

/// 256 images, 4 pixels wide and 1 to 256 high.
void write_tall_images(const test::TemporaryFolder& folder) {
  for (int height = 1; height <= 256; ++height) {
    folder.write("class/" + std::to_string(height) + ".pgm",
                 "P5\n4 " + std::to_string(height) + "\n255\n" +
                     std::string(static_cast<std::size_t>(4 * height), 'x'));
  }
}

Pipeline over(const test::TemporaryFolder& folder, int group, const std::string& last = "") {
  const std::string file = R"({"batch_size": 8, "workers": 2, "seed": 5, "group_by_size": )" +
                           std::to_string(group) +
                           R"(, "stages": [{"use": "read.image_folder", "path": ")" +
                           folder.path("") + R"("}, {"use": "decode.image"})" + last +
                           R"(, {"use": "collate.pad"}, {"use": "copy.device"}],
                              "train": {"kind": "callback"}, "device": "cpu"})";
  return Pipeline::from_spec(parse_pipeline(file, "test", test::all_stages(), {}),
                             test::all_stages());
}

struct Caches {
  explicit Caches(const Pipeline& pipeline)
      : device(make_cpu_device()),
        loader(pipeline, *device, {pipeline.spec().workers, 2, false, {}}),
        cache(pipeline, *device, pipeline.copy_options(), LiveOrder(pipeline)),
        facts(cache.fill(loader, {}, {})) {}
  std::shared_ptr<Device> device;
  Executor loader;
  BoundaryCache cache;
  CacheFacts facts;
};

/// Bytes of batches over those of their samples.
double bytes_over_samples(const CacheFacts& facts) {
  return facts.item_bytes.at(3) / facts.item_bytes.at(2);
}

}  // namespace

TEST_CASE("batches of images of similar size are padded less, by as much as was predicted") {
  const test::TemporaryFolder folder;
  write_tall_images(folder);
  const Caches mixed(over(folder, 0));
  REQUIRE(mixed.facts.grouped_bytes_share.has_value());
  CHECK(*mixed.facts.grouped_bytes_share < 0.7);
  const Caches grouped(over(folder, 16));
  CHECK(bytes_over_samples(grouped.facts) / bytes_over_samples(mixed.facts) ==
        doctest::Approx(*mixed.facts.grouped_bytes_share).epsilon(0.05));
  CHECK_FALSE(grouped.facts.grouped_bytes_share.has_value());
}

TEST_CASE("nothing is said of grouping where nothing is padded") {
  const test::TemporaryFolder folder;
  write_tall_images(folder);
  const Caches same(over(folder, 0, R"(, {"use": "augment.random_resized_crop", "size": 8})"));
  CHECK_FALSE(same.facts.grouped_bytes_share.has_value());
}
