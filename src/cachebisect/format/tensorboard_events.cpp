#include "cachebisect/format/tensorboard_events.hpp"

#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/crc32c.hpp"
#include "cachebisect/format/protobuf_message.hpp"

namespace cachebisect {
namespace {

/// TensorFlow's masked checksum (tensorflow/core/lib/hash/crc32c.h).
std::string checksum(std::string_view bytes) {
  constexpr std::uint32_t kDelta = 0xa282ead8U;
  const std::uint32_t crc = crc32c(bytes);
  return little_endian((crc >> 15U | crc << 17U) + kDelta);
}

/// A record of TensorFlow (tensorflow/core/lib/io/record_writer.h).
std::string record(std::string_view bytes) {
  const std::string length = little_endian(std::uint64_t{bytes.size()});
  return length + checksum(length) + std::string(bytes) + checksum(bytes);
}

// Fields of Event.
constexpr unsigned kWallTime = 1;
constexpr unsigned kStep = 2;
constexpr unsigned kFileVersion = 3;
constexpr unsigned kSummary = 5;
// Fields of Summary, and of Summary.Value.
constexpr unsigned kValue = 1;
constexpr unsigned kTag = 1;
constexpr unsigned kSimpleValue = 2;
constexpr unsigned kTensor = 8;
constexpr unsigned kMetadata = 9;
// Fields of SummaryMetadata, of its PluginData, and of TensorProto.
constexpr unsigned kPluginData = 1;
constexpr unsigned kPluginName = 1;
constexpr unsigned kDtype = 1;
constexpr unsigned kShape = 2;
constexpr unsigned kStringVal = 8;
constexpr std::uint64_t kDtString = 7;  // enum DataType

std::string event(const EventTime& time, const ProtobufMessage& value) {
  return record(ProtobufMessage()
                    .add_double(kWallTime, time.seconds)
                    .add_integer(kStep, time.step)
                    .add_message(kSummary, ProtobufMessage().add_message(kValue, value))
                    .bytes());
}

}  // namespace

TensorboardEvents::TensorboardEvents(double started)
    : bytes_(record(ProtobufMessage()
                        .add_double(kWallTime, started)
                        .add_bytes(kFileVersion, "brain.Event:2")
                        .bytes())) {}

void TensorboardEvents::add_scalar(std::string_view tag, const EventTime& time, double value) {
  bytes_ += event(time, ProtobufMessage()
                            .add_bytes(kTag, printable(tag))
                            .add_float(kSimpleValue, static_cast<float>(value)));
}

void TensorboardEvents::add_text(std::string_view tag, const EventTime& time,
                                 std::string_view markdown) {
  const ProtobufMessage plugin =
      ProtobufMessage().add_message(kPluginData, ProtobufMessage().add_bytes(kPluginName, "text"));
  const ProtobufMessage tensor = ProtobufMessage()
                                     .add_integer(kDtype, kDtString)
                                     .add_message(kShape, ProtobufMessage())
                                     .add_bytes(kStringVal, markdown);
  bytes_ += event(time, ProtobufMessage()
                            .add_bytes(kTag, printable(tag))
                            .add_message(kTensor, tensor)
                            .add_message(kMetadata, plugin));
}

}  // namespace cachebisect
