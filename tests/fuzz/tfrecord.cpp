// A hostile TFRecord file: as it is, and its bytes as one record with right check sums.
#include <cstring>

#include "fuzz/sources.hpp"
#include "stages/datasets/tf_example.hpp"
#include "support/tfrecords.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

void check_records(const std::string& file) {
  const auto bytes = bytes_of(std::string_view(file));
  const auto source = opened("read.tfrecord", put_file("set.tfrecord", bytes));
  if (!source) return;
  require(source->size() > 0, "a file that was opened has records");
  read_all(*source, 1000, [&](const Sample& sample, std::uint64_t i) {
    const auto image = content(sample, "image");
    require(!image.empty(), "an image has bytes");
    require(std::search(bytes.begin(), bytes.end(), image.begin(), image.end()) != bytes.end(),
            "an image is bytes of the file");
    for (const FileRange& range : source->files(SampleIndex{i})) {
      require(range.offset <= bytes.size() && range.bytes <= bytes.size() - range.offset,
              "what is read lies in the file");
    }
  });
}

/// Views of the example, with and without the names of what it has.
void check_example(std::span<const std::byte> example) {
  const auto found = stages::parse_example(example, "image/encoded", "image/class/label", true);
  const auto again = stages::parse_example(example, "image/encoded", "image/class/label");
  require(found.has_value() == again.has_value(), "names do not change what is found");
  if (!found) return;
  require(found->image.bytes.size() <= example.size(), "an image lies in its example");
  require(found->label.integer == again->label.integer, "a label is found again");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(tfrecord)(const std::uint8_t* data, std::size_t size) {
  const std::string given(text_of(data, size));
  check_records(given);
  check_example(bytes_of(data, size));
  check_records(test::tf_record(given));
  return 0;
}
