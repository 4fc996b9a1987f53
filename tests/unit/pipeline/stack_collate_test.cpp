#include "cachebisect/pipeline/stack_collate.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/pipeline/plain_copy.hpp"

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

namespace {

Sample make_sample(std::uint64_t index, std::int64_t height, std::int64_t width) {
  Sample sample;
  sample.set_index({index});
  auto pixels = sample.field("image").resize_as<std::uint8_t>({height, width, 3});
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(index * 50 + i);
  }
  sample.field("label").set(static_cast<std::int64_t>(index));
  return sample;
}

const SampleSpec kStatic{{"image", DType::uint8, {2, 4, 3}}, {"label", DType::int64, {}}};
const SampleSpec kDynamicSpec{{"image", DType::uint8, {kDynamic, kDynamic, 3}},
                              {"label", DType::int64, {}}};

}  // namespace

TEST_CASE("batch shapes follow the layout") {
  CHECK(StackCollate(BatchLayout::nhwc).infer(kStatic, 5)[0].shape == Shape{5, 2, 4, 3});
  const BatchSpec nchw = StackCollate(BatchLayout::nchw).infer(kStatic, 5);
  CHECK(nchw[0].shape == Shape{5, 3, 2, 4});
  CHECK(nchw[1].shape == Shape{5});
  CHECK(StackCollate(BatchLayout::nchw).infer(kDynamicSpec, 5)[0].shape ==
        Shape{5, 3, kDynamic, kDynamic});
  CHECK_THROWS_AS(parse_batch_layout("CHWN"), Error);
}

TEST_CASE("rows written in place and gathered batches have the same bytes") {
  for (const BatchLayout layout : {BatchLayout::nhwc, BatchLayout::nchw}) {
    StackCollate collate(layout);
    const BatchSpec spec = collate.infer(kStatic, 3);
    std::vector<Sample> samples;
    for (std::uint64_t i = 0; i < 3; ++i) samples.push_back(make_sample(i, 2, 4));
    std::vector<std::byte> rows(3 * 24);
    for (std::int64_t i = 0; i < 3; ++i) {
      copy_tensor(samples[static_cast<std::size_t>(i)].field("image").view(),
                  collate.row(spec[0], rows.data(), i));
    }
    OwnedHostBatch gathered(host_memory());
    collate.gather(samples, gathered);
    const TensorView& image = gathered.batch.tensor("image");
    CHECK(image.shape == spec[0].shape);
    CHECK(std::equal(rows.begin(), rows.end(), image.data));
    // Sample 1, y = 1, x = 2, channel 1 is element (1 * 4 + 2) * 3 + 1 of the sample.
    const std::size_t at = layout == BatchLayout::nhwc ? 24 + 19 : 24 + 1 * 8 + 1 * 4 + 2;
    CHECK(std::to_integer<int>(rows[at]) == 50 + 19);
    const auto* labels = reinterpret_cast<const std::int64_t*>(gathered.batch.tensor("label").data);
    CHECK(labels[2] == 2);
  }
}

TEST_CASE("a mismatch names both samples") {
  StackCollate collate(BatchLayout::nhwc);
  (void)collate.infer(kDynamicSpec, 2);
  std::vector<Sample> samples;
  samples.push_back(make_sample(4, 2, 4));
  samples.push_back(make_sample(9, 2, 5));
  samples[1].set_origin("cat.jpg");
  OwnedHostBatch out(host_memory());
  try {
    collate.gather(samples, out);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    const std::string what = error.what();
    CHECK(what.find("sample 4") != std::string::npos);
    CHECK(what.find("sample 9 (cat.jpg)") != std::string::npos);
    CHECK(what.find("[2, 5, 3]") != std::string::npos);
    CHECK(what.find("collate.pad") != std::string::npos);
  }
}

TEST_CASE("the prefetch of the copy is limited") {
  CHECK(PlainCopy({.prefetch = 3}).options().prefetch == 3);
  CHECK_THROWS_AS(PlainCopy({.prefetch = 4}), Error);
  CHECK_THROWS_AS(PlainCopy({.prefetch = -1}), Error);
}
