#include "cachebisect/replay/loop/device_chain.hpp"

#include <string>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/executor/slot_memory.hpp"

namespace cachebisect {

void copy_batch(const HostBatch& from, OwnedDeviceBatch& to, Device& device, Stream& stream,
                bool blocking) {
  to.batch.size = from.size;
  to.batch.indices = from.indices;
  to.batch.epoch = from.epoch;
  to.batch.padding_share = from.padding_share;
  device.begin_transfer(stream);
  for (std::size_t i = 0; i < from.fields.size(); ++i) {
    const BatchField& field = from.fields[i];
    const TensorView target = to.resize_like(i, field);
    // One wait is enough: all fields are in one stream.
    const bool last = i + 1 == from.fields.size();
    device.copy_to_device(target.data, field.tensor.data, field.tensor.byte_size(), stream,
                          blocking && last);
  }
}

void run_device_stage(const ChainStage& stage, std::uint64_t seed, const DeviceBatch& input,
                      OwnedDeviceBatch& out, Device& device, Stream& stream) {
  out.begin_from(input);
  try {
    dynamic_cast<const DeviceStage&>(*stage.stage)
        .process(input, out, {device.ops(), stream, out.scratch(), seed, stage.random_key});
  } catch (...) {
    throw current_error(ErrorKind::data).with_context("stage '" + stage.name + "'");
  }
}

DeviceChain::DeviceChain(const Pipeline& pipeline, Device& device, std::size_t runs)
    : device_(&device), seed_(pipeline.spec().seed), first_boundary_(pipeline.copy_position() + 1) {
  const auto& stages = pipeline.stages();
  for (std::size_t i = first_boundary_; i < stages.size(); ++i) {
    links_.push_back(
        {&stages[i], OwnedDeviceBatch(device.device_memory()), DeviceTimer(device, runs)});
    make_room(links_.back().output, stages[i], stages[i - 1].output);
    if (stages[i].stage->kind() != StageKind::device) {
      throw Error(ErrorKind::internal,
                  "stage '" + stages[i].name + "' after the copy is not a device stage");
    }
  }
}

void DeviceChain::begin(bool observed) {
  for (Link& link : links_) link.timer.reset(observed);
}

const DeviceBatch& DeviceChain::run(const DeviceBatch& input, std::size_t from, std::size_t to,
                                    Stream& stream) {
  const DeviceBatch* current = &input;
  for (std::size_t i = from - first_boundary_; i < to - first_boundary_; ++i) {
    Link& link = links_[i];
    const ProfilerRange range(link.stage->name.c_str());
    link.timer.begin(stream);
    run_device_stage(*link.stage, seed_, *current, link.output, *device_, stream);
    link.timer.end(stream, current->size);
    current = &link.output.batch;
  }
  return *current;
}

std::vector<DeviceTime> DeviceChain::times() {
  std::vector<DeviceTime> all;
  all.reserve(links_.size());
  for (Link& link : links_) all.push_back(link.timer.total());
  return all;
}

}  // namespace cachebisect
