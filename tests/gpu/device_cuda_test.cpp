// On a machine without a CUDA device every case is skipped.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"

using namespace cachebisect;

namespace {

/// A CUDA device, the cpu, and buffers to send values from one to the other. The device writes its
/// results into page-locked memory, which both can access.
struct CopyFixture {
  std::unique_ptr<Device> cuda = make_cuda_device(0);
  std::unique_ptr<Device> cpu = make_cpu_device();
  std::unique_ptr<Stream> stream = cuda->make_stream();
  std::unique_ptr<Stream> host_stream = cpu->make_stream();
  std::unique_ptr<Event> done = cuda->make_event();

  void finish() {
    cuda->record(*done, *stream);
    cuda->synchronize(*done);
  }

  Buffer on_device(const void* values, std::size_t bytes) {
    Buffer pinned(cuda->slot_memory(true));
    Buffer device(cuda->device_memory());
    std::memcpy(pinned.reserve(bytes), values, bytes);
    cuda->copy_to_device(device.reserve(bytes), pinned.data(), bytes, *stream, true);
    return device;
  }
};

/// Bytes of `count` elements of `dtype` that are valid there: any for integers, 0 or 1 for bool,
/// and for floats values, infinities and some beyond every integer, but no NaN (its bits may
/// differ).
std::vector<std::byte> random_elements(DeviceOps& ops, Stream& stream, DType dtype,
                                       std::size_t count, std::uint64_t seed) {
  RandomStream random({.seed = seed});
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = random.normal() * (i % 4 == 0 ? 1e5 : 50);
    if (i % 97 == 0) values[i] = std::numeric_limits<double>::infinity();
    if (i % 101 == 0) values[i] = -1e20;
  }
  const Shape shape{static_cast<std::int64_t>(count)};
  std::vector<std::byte> bytes(count * size_of(dtype));
  ops.cast(dense_view(reinterpret_cast<const std::byte*>(values.data()), DType::float64, shape),
           dense_view(bytes.data(), dtype, shape), stream);
  return bytes;
}

constexpr std::array kDTypes{DType::uint8,   DType::int8,    DType::uint16,   DType::int32,
                             DType::int64,   DType::float16, DType::bfloat16, DType::float32,
                             DType::float64, DType::boolean};
constexpr std::array kFloats{DType::float32, DType::float16, DType::bfloat16};

/// Runs the operation on both devices and compares every byte. On the device, both tensors begin
/// `shift` elements after an aligned address.
template <class Operation>
void check_equal(CopyFixture& f, DType from, const Shape& from_shape, DType to,
                 const Shape& to_shape, const std::vector<std::byte>& input, Operation operation,
                 std::size_t shift = 0) {
  CAPTURE(to_string(from));
  CAPTURE(to_string(to));
  CAPTURE(from_shape.to_string());
  CAPTURE(shift);
  const auto bytes = static_cast<std::size_t>(to_shape.elements()) * size_of(to);
  std::vector<std::byte> expected(bytes);
  operation(f.cpu->ops(), dense_view(input.data(), from, from_shape),
            dense_view(expected.data(), to, to_shape), *f.host_stream);

  std::vector<std::byte> shifted(shift * size_of(from));
  shifted.insert(shifted.end(), input.begin(), input.end());
  const Buffer device = f.on_device(shifted.data(), shifted.size());
  Buffer result(f.cuda->slot_memory(true));
  const std::size_t before = shift * size_of(to);
  std::memset(result.reserve(before + bytes), 0xA5, before + bytes);
  const auto* data = static_cast<const std::byte*>(device.data()) + shift * size_of(from);
  operation(f.cuda->ops(), dense_view(data, from, from_shape),
            dense_view(result.data() + before, to, to_shape), *f.stream);
  f.finish();
  CHECK(std::memcmp(result.data() + before, expected.data(), bytes) == 0);
}

bool no_device() { return cuda_device_count() == 0; }

}  // namespace

TEST_CASE_FIXTURE(CopyFixture, "the device describes itself" * doctest::skip(no_device())) {
  CHECK(cuda->kind() == DeviceKind::cuda);
  CHECK_FALSE(cuda->info().name.empty());
  CHECK(cuda->info().memory_bytes.value() > 0);
  CHECK(cuda->info().free_bytes.value() <= cuda->info().memory_bytes.value());
  CHECK(cuda->copies());
  CHECK(cuda->has_data());
  CHECK(stream->native() != nullptr);
  CHECK(cuda->slot_memory(true)->kind() == MemoryKind::pinned);
  CHECK(cuda->slot_memory(false)->kind() == MemoryKind::host);
  CHECK(cuda->device_memory()->kind() == MemoryKind::device);
}

TEST_CASE_FIXTURE(CopyFixture,
                  "bytes are copied to the device and back" * doctest::skip(no_device())) {
  for (const bool pinned : {true, false}) {
    for (const bool blocking : {true, false}) {
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{10'000'019}}) {
        Buffer from(cuda->slot_memory(pinned));
        Buffer device(cuda->device_memory());
        Buffer back(cuda->slot_memory(true));
        from.reserve(bytes);
        for (std::size_t i = 0; i < bytes; ++i) from.data()[i] = static_cast<std::byte>(i * 31 + 7);
        const Shape shape{static_cast<std::int64_t>(bytes)};
        cuda->copy_to_device(device.reserve(bytes), from.data(), bytes, *stream, blocking);
        cuda->ops().cast(
            dense_view(static_cast<const std::byte*>(device.data()), DType::uint8, shape),
            dense_view(back.reserve(bytes), DType::uint8, shape), *stream);
        finish();
        CHECK(std::memcmp(from.data(), back.data(), bytes) == 0);
      }
    }
  }
  cuda->copy_to_device(nullptr, nullptr, 0, *stream, true);
}

TEST_CASE_FIXTURE(CopyFixture, "casts equal the host's bit for bit" * doctest::skip(no_device())) {
  const Shape shape{5003};
  for (const DType from : kDTypes) {
    const auto input = random_elements(cpu->ops(), *host_stream, from, 5003, 1);
    for (const DType to : kDTypes) {
      check_equal(*this, from, shape, to, shape, input,
                  [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                    ops.cast(a, b, s);
                  });
    }
  }
}

TEST_CASE_FIXTURE(CopyFixture,
                  "affine equals the host's on any axis" * doctest::skip(no_device())) {
  // 300 channels take several launches.
  const std::array<Shape, 4> shapes{Shape{2, 3, 17, 19}, Shape{2, 17, 19, 3}, Shape{4, 300, 5},
                                    Shape{300, 7}};
  const std::array<std::size_t, 4> axes{1, 3, 1, 0};
  for (std::size_t which = 0; which < shapes.size(); ++which) {
    const auto channels = static_cast<std::size_t>(shapes[which][axes[which]]);
    std::vector<float> scale;
    std::vector<float> bias;
    for (std::size_t c = 0; c < channels; ++c) {
      scale.push_back(0.01F + static_cast<float>(c) / 7);
      bias.push_back(-0.3F * static_cast<float>(c % 5));
    }
    for (const DType from : {DType::uint8, DType::int64, DType::float16, DType::float32}) {
      // Finite values only: infinity times zero is not compared.
      auto input = random_elements(cpu->ops(), *host_stream, DType::uint8,
                                   static_cast<std::size_t>(shapes[which].elements()), which);
      std::vector<std::byte> typed(input.size() * size_of(from));
      cpu->ops().cast(
          dense_view(static_cast<const std::byte*>(input.data()), DType::uint8, shapes[which]),
          dense_view(typed.data(), from, shapes[which]), *host_stream);
      for (const DType to : kFloats) {
        check_equal(*this, from, shapes[which], to, shapes[which], typed,
                    [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                      ops.affine(a, b, scale, bias, axes[which], s);
                    });
      }
    }
  }
}

TEST_CASE_FIXTURE(CopyFixture, "one_hot, unpack_bits and transpose equal the host's" *
                                   doctest::skip(no_device())) {
  const std::vector<std::int64_t> labels{0, 9, 3, 5, 5, 1, 8};
  std::vector<std::byte> label_bytes(labels.size() * sizeof(std::int64_t));
  std::memcpy(label_bytes.data(), labels.data(), label_bytes.size());
  for (const DType to : kFloats) {
    check_equal(*this, DType::int64, Shape{7}, to, Shape{7, 10}, label_bytes,
                [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.one_hot(a, b, 0.9F, 0.01F, s);
                });
  }
  const auto bits = random_elements(cpu->ops(), *host_stream, DType::uint8, 333 * 5, 2);
  check_equal(*this, DType::uint8, Shape{333, 5}, DType::uint8, Shape{333, 40}, bits,
              [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                ops.unpack_bits(a, b, s);
              });
}

TEST_CASE_FIXTURE(CopyFixture,
                  "positions and values equal the host's" * doctest::skip(no_device())) {
  constexpr std::size_t kRows = 333;
  constexpr std::size_t kEntries = 40;
  for (const DType dtype : kDTypes) {
    const std::size_t row = kEntries * (4 + size_of(dtype));
    std::vector<std::byte> bytes(kRows * row, std::byte{3});
    for (std::size_t n = 0; n < kRows; ++n) {
      for (std::size_t k = 0; k < kEntries; ++k) {
        const auto position = static_cast<std::int32_t>((n * 13 + k * 11) % 1001);
        std::memcpy(bytes.data() + n * row + 4 * k, &position, sizeof position);
      }
    }
    check_equal(*this, DType::uint8, Shape{kRows, static_cast<std::int64_t>(row)}, dtype,
                Shape{kRows, 997}, bytes,
                [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.unpack_nonzeros(a, b, s);
                });
  }
}

TEST_CASE_FIXTURE(CopyFixture, "padding equals the host's" * doctest::skip(no_device())) {
  constexpr std::int64_t kRows = 150;
  std::vector<Shape> shapes;
  std::int64_t elements = 0;
  for (std::int64_t n = 0; n < kRows; ++n) {
    shapes.push_back({3, 1 + n * 5 % 31, n * 7 % 48});
    elements += shapes.back().elements();
  }
  const std::int64_t per_row = (elements + kRows - 1) / kRows;
  for (const DType dtype : kDTypes) {
    const auto input = random_elements(cpu->ops(), *host_stream, dtype,
                                       static_cast<std::size_t>(kRows * per_row), 4);
    check_equal(*this, dtype, Shape{kRows, per_row}, dtype, Shape{kRows, 3, 31, 47}, input,
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.pad(a, b, shapes, s);
                });
  }
}

TEST_CASE_FIXTURE(CopyFixture, "any order of axes equals the host's" * doctest::skip(no_device())) {
  const Shape images{2, 31, 17, 3};
  using Axes = std::array<std::size_t, 4>;
  for (const Axes& axes : {Axes{0, 3, 1, 2}, Axes{0, 2, 3, 1}, Axes{3, 2, 1, 0}, Axes{0, 2, 1, 3},
                           Axes{1, 2, 3, 0}, Axes{0, 1, 2, 3}}) {
    const Shape turned{images[axes[0]], images[axes[1]], images[axes[2]], images[axes[3]]};
    for (const DType dtype : kDTypes) {
      const auto input = random_elements(cpu->ops(), *host_stream, dtype, 2 * 31 * 17 * 3, 3);
      check_equal(*this, dtype, images, dtype, turned, input,
                  [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                    ops.transpose(a, b, axes, s);
                  });
    }
  }
}

TEST_CASE_FIXTURE(CopyFixture, "windows of images equal the host's" * doctest::skip(no_device())) {
  RandomStream random({.seed = 8});
  std::array<ImageWindow, 90> windows;
  for (ImageWindow& window : windows) {
    window = {static_cast<std::int32_t>(random.below(40)) - 20,
              static_cast<std::int32_t>(random.below(40)) - 20, random.below(2) == 0,
              random.below(2) == 0};
  }
  for (const DType dtype : kDTypes) {
    const auto input = random_elements(cpu->ops(), *host_stream, dtype, 90 * 31 * 17 * 3, 3);
    check_equal(*this, dtype, Shape{90, 3, 31, 17}, dtype, Shape{90, 3, 24, 19}, input,
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.crop(a, b, windows, 1, s);
                });
    check_equal(*this, dtype, Shape{90, 31, 17, 3}, dtype, Shape{90, 24, 19, 3}, input,
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.crop(a, b, windows, 3, s);
                });
  }
}

TEST_CASE_FIXTURE(CopyFixture, "changes of colour equal the host's" * doctest::skip(no_device())) {
  using enum ColorOp;
  RandomStream random({.seed = 9});
  std::array<ColorChanges, kMaxImagesAtOnce> changes;
  for (ColorChanges& each : changes) {
    std::array ops{brightness, contrast, saturation, hue};
    for (std::size_t i = 0; i < ops.size(); ++i) {
      std::swap(ops[i], ops[random.below(ops.size())]);
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
      each.ops[i] = random.below(5) == 0 ? none : ops[i];
      each.factors[i] =
          static_cast<float>(ops[i] == hue ? random.uniform(-0.5, 0.5) : random.uniform(0, 2));
    }
  }
  const Buffer sums = on_device(changes.data(), kMaxImagesAtOnce * sizeof(std::uint64_t));
  std::vector<std::byte> pixels(kMaxImagesAtOnce * 150 * 131 * 3);
  for (std::byte& value : pixels) value = static_cast<std::byte>(random.below(256));
  const auto images = static_cast<std::int64_t>(kMaxImagesAtOnce);
  for (const std::size_t axis : {std::size_t{1}, std::size_t{3}}) {
    const Shape shape = axis == 1 ? Shape{images, 3, 150, 131} : Shape{images, 150, 131, 3};
    check_equal(*this, DType::uint8, shape, DType::uint8, shape, pixels,
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.adjust_color(a, b, changes, axis, sums.data(), s);
                });
  }
}

TEST_CASE_FIXTURE(CopyFixture,
                  "tensors at any address equal the host's" * doctest::skip(no_device())) {
  const std::array<float, 3> scale{0.5F, 0.25F, 3.0F};
  const std::array<float, 3> bias{1.0F, -2.0F, 0.1F};
  const Shape image{29, 7, 3};
  const auto bytes = random_elements(cpu->ops(), *host_stream, DType::uint8, 29 * 7 * 3, 5);
  for (const std::size_t shift : {1, 2, 3, 4}) {
    for (const DType to : {DType::int8, DType::float16, DType::float32, DType::int64}) {
      check_equal(
          *this, DType::uint8, image, to, image, bytes,
          [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
            ops.cast(a, b, s);
          },
          shift);
    }
    check_equal(
        *this, DType::uint8, image, DType::float32, image, bytes,
        [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
          ops.affine(a, b, scale, bias, 2, s);
        },
        shift);
    check_equal(
        *this, DType::uint8, Shape{29, 21}, DType::uint8, Shape{29, 168}, bytes,
        [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
          ops.unpack_bits(a, b, s);
        },
        shift);
  }
}

TEST_CASE_FIXTURE(CopyFixture,
                  "events happen in the order of their streams" * doctest::skip(no_device())) {
  constexpr std::size_t kManyBytes = 64 << 20;
  Buffer from(cuda->slot_memory(true));
  Buffer to(cuda->device_memory());
  from.reserve(kManyBytes);
  to.reserve(kManyBytes);
  const auto other = cuda->make_stream();
  const auto before = cuda->make_event();
  const auto copied = cuda->make_event();
  const auto after = cuda->make_event();
  cuda->record(*before, *stream);
  cuda->copy_to_device(to.data(), from.data(), kManyBytes, *stream, false);
  cuda->record(*copied, *stream);
  cuda->wait(*other, *copied);
  cuda->record(*after, *other);
  cuda->synchronize(*after);
  CHECK(cuda->completion_seconds(*copied) > cuda->completion_seconds(*before));
  CHECK(cuda->completion_seconds(*after) >= cuda->completion_seconds(*copied));
}

TEST_CASE_FIXTURE(CopyFixture,
                  "differences of event times do not jump when the clock's base moves" *
                      doctest::skip(no_device())) {
  const auto first = cuda->make_event();
  const auto second = cuda->make_event();
  cuda->record(*first, *stream);
  cuda->record(*second, *stream);
  cuda->synchronize(*second);
  const double gap = cuda->completion_seconds(*second) - cuda->completion_seconds(*first);
  const double start = cuda->completion_seconds(*first);
  sleep_until(monotonic_seconds() + 2.5);
  const auto late = cuda->make_event();
  cuda->record(*late, *stream);
  cuda->synchronize(*late);
  CHECK(cuda->completion_seconds(*late) - start > 2.4);  // the base has moved
  constexpr double kResolution = 2e-6;                   // of cudaEventElapsedTime(), and rounding
  CHECK(std::abs(cuda->completion_seconds(*first) - start) < kResolution);
  const double gap_again = cuda->completion_seconds(*second) - cuda->completion_seconds(*first);
  CHECK(std::abs(gap_again - gap) < kResolution);
}

TEST_CASE_FIXTURE(CopyFixture,
                  "too much memory and a missing device are refused" * doctest::skip(no_device())) {
  const std::string message = test::error_message(
      [&] { (void)cuda->device_memory()->allocate(std::size_t{1} << 50); }, ErrorKind::device);
  CHECK(test::has(message, "1125899906842624 bytes"));
  CHECK(test::has(message, "cudaMalloc"));
  finish();  // the error did not persist on the device
  CHECK(test::error_message([] { (void)make_cuda_device(1000); }, ErrorKind::device)
            .starts_with("there is no device cuda:1000; found cuda:0"));
}
