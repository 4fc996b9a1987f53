// The kernels of the CUDA device, run by a virtual device, against the host's operations.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_stub/enqueue.hpp"
#include "cuda_stub/machine.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"

using namespace cachebisect;

namespace {

struct Fixture {
  cuda_stub::Machine machine;
  std::unique_ptr<Device> cuda = make_cuda_device(0);
  std::unique_ptr<Stream> stream = cuda->make_stream();
  std::unique_ptr<Event> done = cuda->make_event();
  std::unique_ptr<Device> cpu = make_cpu_device();
  std::unique_ptr<Stream> host_stream = cpu->make_stream();

  ~Fixture() { CHECK(machine.violations().empty()); }

  [[nodiscard]] Buffer on_device(const std::vector<std::byte>& values) {
    Buffer device(cuda->device_memory());
    cuda->copy_to_device(device.reserve(values.size()), values.data(), values.size(), *stream,
                         true);
    return device;
  }
  [[nodiscard]] std::vector<std::byte> read_back(const Buffer& device, std::size_t bytes) {
    std::vector<std::byte> host(bytes);
    cuda_stub::enqueue(static_cast<cudaStream_t>(stream->native()),
                       [&] { std::memcpy(host.data(), device.data(), bytes); });
    cuda->record(*done, *stream);
    cuda->synchronize(*done);
    return host;
  }

  /// Runs the operation on both devices and compares every byte. On the device, both tensors begin
  /// `shift` elements after an aligned address.
  template <class Operation>
  void check_equal(const ConstTensorView& input, DType to, const Shape& to_shape,
                   const Operation& operation, std::size_t shift = 0) {
    CAPTURE(to_string(input.dtype));
    CAPTURE(to_string(to));
    const auto bytes = static_cast<std::size_t>(to_shape.elements()) * size_of(to);
    std::vector<std::byte> expected(bytes);
    operation(cpu->ops(), input, dense_view(expected.data(), to, to_shape), *host_stream);
    std::vector<std::byte> shifted(shift * size_of(input.dtype));
    shifted.insert(shifted.end(), input.data, input.data + input.byte_size());
    const Buffer from = on_device(shifted);
    Buffer result(cuda->device_memory());
    const auto* data = static_cast<const std::byte*>(from.data()) + shift * size_of(input.dtype);
    const std::size_t before = shift * size_of(to);
    result.reserve(before + bytes);
    operation(cuda->ops(), dense_view(data, input.dtype, input.shape),
              dense_view(result.data() + before, to, to_shape), *stream);
    const std::vector<std::byte> got = read_back(result, before + bytes);
    CHECK(std::memcmp(got.data() + before, expected.data(), bytes) == 0);
  }
};

std::vector<std::byte> bytes_of(DeviceOps& ops, Stream& stream, DType dtype,
                                const std::vector<double>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  ops.cast(dense_view(reinterpret_cast<const std::byte*>(values.data()), DType::float64, shape),
           dense_view(bytes.data(), dtype, shape), stream);
  return bytes;
}

ConstTensorView view_of(const std::vector<std::byte>& bytes, DType dtype, const Shape& shape) {
  return dense_view(bytes.data(), dtype, shape);
}

constexpr std::array kDTypes{DType::uint8,   DType::int8,    DType::uint16,   DType::int32,
                             DType::int64,   DType::float16, DType::bfloat16, DType::float32,
                             DType::float64, DType::boolean};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "casts equal the host's bit for bit") {
  RandomStream random({.seed = 1});
  std::vector<double> values{0, -0.0, 1e30, -1e30, 65504, 65520, 0.5, 255.5};
  while (values.size() < 500) values.push_back(random.normal() * 300);
  const Shape shape{500};
  for (const DType from : kDTypes) {
    const auto input = bytes_of(cpu->ops(), *host_stream, from, values);
    for (const DType to : kDTypes) {
      check_equal(view_of(input, from, shape), to, shape,
                  [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                    ops.cast(a, b, s);
                  });
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "affine equals the host's, also with 300 channels") {
  const Shape shape{2, 300, 3};
  std::vector<double> values;
  std::vector<float> scale;
  for (int i = 0; i < 1800; ++i) values.push_back(i % 251);
  for (int c = 0; c < 300; ++c) scale.push_back(0.01F + static_cast<float>(c) / 7);
  const float bias = -0.3F;
  for (const DType from : {DType::uint8, DType::int64, DType::float16, DType::float32}) {
    const auto input = bytes_of(cpu->ops(), *host_stream, from, values);
    for (const DType to : {DType::float32, DType::float16, DType::bfloat16}) {
      check_equal(view_of(input, from, shape), to, shape,
                  [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                    ops.affine(a, b, scale, {&bias, 1}, 1, s);
                  });
    }
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "one scale for all is one launch, and equals the same scale by channel") {
  constexpr std::array<float, 1> kScale{1.0F / 255.0F};
  constexpr std::array<float, 1> kBias{-0.4F};
  for (const Shape& shape : {Shape{1}, Shape{3, 129}, Shape{2, 7, 257}, Shape{5, 3, 1, 1},
                             Shape{2, 3, 11, 513}, Shape{3, 301, 1}}) {
    CAPTURE(shape.to_string());
    std::vector<std::byte> pixels;
    for (std::int64_t i = 0; i < shape.elements(); ++i) pixels.push_back(std::byte(i * 7 % 256));
    const ConstTensorView input = view_of(pixels, DType::uint8, shape);
    const std::size_t axis = shape.rank() - 1;
    const std::vector<float> scale(static_cast<std::size_t>(shape[axis]), kScale[0]);
    const std::vector<float> bias(scale.size(), kBias[0]);
    const int before = machine.calls("cudaLaunchKernel");
    check_equal(input, DType::float32, shape,
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.affine(a, b, kScale, kBias, axis, s);
                });
    // One launch, and one of the test that reads the result back.
    CHECK(machine.calls("cudaLaunchKernel") - before == 2);
    std::vector<float> whole(pixels.size());
    std::vector<float> by_channel(pixels.size());
    const auto run = [&](std::vector<float>& to, std::span<const float> a,
                         std::span<const float> b) {
      cpu->ops().affine(input,
                        dense_view(reinterpret_cast<std::byte*>(to.data()), DType::float32, shape),
                        a, b, axis, *host_stream);
    };
    run(whole, kScale, kBias);
    run(by_channel, scale, bias);
    CHECK(std::memcmp(whole.data(), by_channel.data(), whole.size() * sizeof(float)) == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "one_hot, unpack_bits and transpose equal the host's") {
  const auto labels = bytes_of(cpu->ops(), *host_stream, DType::int64, {0, 9, 3, 5, 5, 1, 8});
  check_equal(view_of(labels, DType::int64, Shape{7}), DType::float16, Shape{7, 10},
              [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                ops.one_hot(a, b, 0.9F, 0.01F, s);
              });
  std::vector<double> values;
  for (int i = 0; i < 2 * 5 * 7 * 3; ++i) values.push_back(i % 128);
  const auto bits = bytes_of(cpu->ops(), *host_stream, DType::uint8, values);
  check_equal(view_of(bits, DType::uint8, Shape{42, 5}), DType::uint8, Shape{42, 40},
              [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                ops.unpack_bits(a, b, s);
              });
}

TEST_CASE_FIXTURE(Fixture, "unpack_nonzeros equals the host's, from and to any address") {
  constexpr int kRows = 7;
  constexpr int kEntries = 8;
  for (const DType dtype : kDTypes) {
    CAPTURE(to_string(dtype));
    const std::size_t row = kEntries * (4 + size_of(dtype));
    std::vector<std::byte> bytes(kRows * row, std::byte{3});
    for (std::size_t n = 0; n < kRows; ++n) {
      for (std::size_t k = 0; k < kEntries; ++k) {
        const auto position =
            static_cast<std::int32_t>(k == n ? -1 : static_cast<int>(n * 13 + k * 11) % 100);
        std::memcpy(bytes.data() + n * row + 4 * k, &position, sizeof position);
      }
    }
    const Shape shape{kRows, static_cast<std::int64_t>(row)};
    for (const std::size_t shift : {0, 1, 2, 3, 4}) {
      check_equal(
          view_of(bytes, DType::uint8, shape), dtype, Shape{kRows, 4, 23},
          [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
            ops.unpack_nonzeros(a, b, s);
          },
          shift);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "padding of more samples than one launch takes equals the host's") {
  constexpr std::int64_t kRows = 150;
  std::vector<Shape> shapes;
  std::int64_t elements = 0;
  for (std::int64_t n = 0; n < kRows; ++n) {
    shapes.push_back({3, 1 + n * 5 % 6, n * 7 % 6});
    elements += shapes.back().elements();
  }
  const std::int64_t per_row = (elements + kRows - 1) / kRows;
  for (const DType dtype : kDTypes) {
    CAPTURE(to_string(dtype));
    std::vector<double> values;
    for (std::int64_t i = 0; i < kRows * per_row; ++i)
      values.push_back(static_cast<double>(i % 97));
    const auto bytes = bytes_of(cpu->ops(), *host_stream, dtype, values);
    check_equal(view_of(bytes, dtype, Shape{kRows, per_row}), dtype, Shape{kRows, 3, 6, 5},
                [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                  ops.pad(a, b, shapes, s);
                });
  }
}

TEST_CASE_FIXTURE(Fixture, "any order of axes equals the host's") {
  std::vector<double> values;
  for (int i = 0; i < 2 * 5 * 7 * 3; ++i) values.push_back(i % 128);
  const Shape images{2, 5, 7, 3};
  using Axes = std::array<std::size_t, 4>;
  for (const Axes& axes : {Axes{0, 3, 1, 2}, Axes{0, 2, 3, 1}, Axes{3, 2, 1, 0}, Axes{0, 2, 1, 3},
                           Axes{1, 2, 3, 0}, Axes{0, 1, 2, 3}}) {
    const Shape turned{images[axes[0]], images[axes[1]], images[axes[2]], images[axes[3]]};
    for (const DType dtype : kDTypes) {
      const auto image = bytes_of(cpu->ops(), *host_stream, dtype, values);
      check_equal(view_of(image, dtype, images), dtype, turned,
                  [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                    ops.transpose(a, b, axes, s);
                  });
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "two long axes change places") {
  std::vector<double> values;
  for (int i = 0; i < 3 * 19 * 23; ++i) values.push_back(i % 128);
  const auto bytes = bytes_of(cpu->ops(), *host_stream, DType::uint16, values);
  const std::array<std::size_t, 3> axes{0, 2, 1};
  check_equal(view_of(bytes, DType::uint16, Shape{3, 19, 23}), DType::uint16, Shape{3, 23, 19},
              [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                ops.transpose(a, b, axes, s);
              });
}

TEST_CASE_FIXTURE(Fixture, "windows of images equal the host's") {
  // Inside, across each edge, entirely outside the image, and flipped.
  const std::array<ImageWindow, 5> windows{{{1, 2, false, false},
                                            {-2, -1, false, true},
                                            {4, 5, true, false},
                                            {2, -3, true, true},
                                            {-40, 60, false, true}}};
  std::vector<double> values;
  for (int i = 0; i < 5 * 7 * 9 * 3; ++i) values.push_back(1 + i % 100);
  for (const std::size_t channels : {std::size_t{1}, std::size_t{3}}) {
    const bool planar = channels == 1;
    const Shape input = planar ? Shape{5, 3, 7, 9} : Shape{5, 7, 9, 3};
    for (const Shape& output : planar ? std::vector{Shape{5, 3, 5, 8}, Shape{5, 3, 11, 2}}
                                      : std::vector{Shape{5, 5, 8, 3}, Shape{5, 11, 2, 3}}) {
      for (const DType dtype : kDTypes) {
        const auto images = bytes_of(cpu->ops(), *host_stream, dtype, values);
        check_equal(view_of(images, dtype, input), dtype, output,
                    [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
                      ops.crop(a, b, windows, channels, s);
                    });
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "changes of colour equal the host's, also by the mean of a changed image") {
  using enum ColorOp;
  const std::array<ColorChanges, 6> changes{
      {{{brightness, contrast, saturation, hue}, {1.3F, 0.6F, 1.7F, 0.2F}},
       {{hue, saturation, contrast, brightness}, {-0.4F, 0.2F, 1.5F, 0.7F}},
       {{contrast, none, none, none}, {0.5F, 9, 9, 9}},
       {{none, none, none, none}, {3, 3, 3, 3}},
       {{none, hue, none, saturation}, {0, 0, 0, 1.2F}},
       {{saturation, brightness, none, contrast}, {0, 2, 1, 1.1F}}}};
  RandomStream random({.seed = 5});
  std::vector<std::byte> pixels;
  while (pixels.size() < 6 * 67 * 5 * 3) pixels.push_back(std::byte(random.below(256)));
  std::array<std::uint64_t, 6> unused{};
  const Buffer sums = on_device(std::vector<std::byte>(sizeof unused, std::byte{77}));
  for (const auto& [shape, channels] :
       {std::pair{Shape{6, 67, 5, 3}, 3U}, std::pair{Shape{6, 3, 67, 5}, 1U},
        std::pair{Shape{6, 67, 5, 1}, 3U}, std::pair{Shape{6, 1, 67, 5}, 1U}}) {
    check_equal(view_of(pixels, DType::uint8, shape), DType::uint8, shape,
                [&, axis = channels](DeviceOps& ops, const ConstTensorView& a, const TensorView& b,
                                     Stream& s) {
                  const bool host = &ops == &cpu->ops();
                  ops.adjust_color(a, b, changes, axis,
                                   host ? reinterpret_cast<std::byte*>(unused.data()) : sums.data(),
                                   s);
                });
  }
}

TEST_CASE_FIXTURE(Fixture, "tensors at any address equal the host's") {
  const std::array<float, 3> scale{0.5F, 0.25F, 3.0F};
  const std::array<float, 3> bias{1.0F, -2.0F, 0.1F};
  std::vector<double> values;
  for (int i = 0; i < 29 * 7 * 3; ++i) values.push_back(i % 251);
  const auto bytes = bytes_of(cpu->ops(), *host_stream, DType::uint8, values);
  const Shape image{29, 7, 3};
  for (const std::size_t shift : {1, 2, 3, 4}) {
    for (const DType to : {DType::int8, DType::float16, DType::float32, DType::int64}) {
      check_equal(
          view_of(bytes, DType::uint8, image), to, image,
          [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
            ops.cast(a, b, s);
          },
          shift);
    }
    check_equal(
        view_of(bytes, DType::uint8, image), DType::float32, image,
        [&](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
          ops.affine(a, b, scale, bias, 2, s);
        },
        shift);
    check_equal(
        view_of(bytes, DType::uint8, Shape{29, 21}), DType::uint8, Shape{29, 168},
        [](DeviceOps& ops, const ConstTensorView& a, const TensorView& b, Stream& s) {
          ops.unpack_bits(a, b, s);
        },
        shift);
  }
}
