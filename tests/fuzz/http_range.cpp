// The Range header of a request, for objects of several sizes.
#include "fuzz/fuzz_target.hpp"

#include "cachebisect/emulator/byte_range.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

void check_range(std::string_view header, std::uint64_t size) {
  const ByteRange range = parse_range(header, size);
  switch (range.kind) {
    case ByteRange::Kind::whole:
      require(range.begin == 0 && range.bytes == size, "the whole object is all of it");
      break;
    case ByteRange::Kind::part:
      require(range.bytes > 0, "a part has bytes");
      require(range.begin < size && range.bytes <= size - range.begin, "a part lies in the object");
      break;
    case ByteRange::Kind::outside:
      require(range.bytes == 0, "outside there are no bytes");
  }
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(http_range)(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  for (const std::uint64_t object : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000},
                                     std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    check_range(text, object);
  }
  return 0;
}
