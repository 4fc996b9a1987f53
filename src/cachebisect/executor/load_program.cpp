#include "cachebisect/executor/load_program.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::internal, "load request: " + what);
}

}  // namespace

std::uint64_t epoch_length(const Pipeline& pipeline) {
  const auto batch = static_cast<std::uint64_t>(pipeline.batch_size());
  const std::uint64_t samples = pipeline.samples();
  return pipeline.spec().drop_last ? samples / batch * batch : samples;
}

LoadProgram::LoadProgram(const Pipeline& pipeline, const Sampler& sampler,
                         const LoadRequest& request, const GroupedOrder* grouped)
    : pipeline_(&pipeline),
      sampler_(&sampler),
      grouped_(grouped),
      request_(request),
      batch_size_(static_cast<std::uint64_t>(pipeline.batch_size())) {
  const std::size_t collate = pipeline.collate_position();
  if (request.boundary > collate) {
    origin_ = Origin::cached_batches;
  } else if (request.boundary > 0) {
    origin_ = Origin::cached_samples;
  } else if (!request.indices.empty()) {
    origin_ = Origin::indices;
  }
  check();
  switch (origin_) {
    case Origin::sampler:
      modulus_ = epoch_length(pipeline);
      break;
    case Origin::indices:
      modulus_ = request.indices.size();
      break;
    case Origin::cached_samples:
      modulus_ = request.cache.samples.size();
      break;
    case Origin::cached_batches:
      modulus_ = request.cache.batches.size() * batch_size_;
      break;
  }
  if (origin_ != Origin::cached_batches) add_sample_steps();
  find_cache_steps();
  add_batch_steps();
}

void LoadProgram::check() const {
  const std::size_t collate = pipeline_->collate_position();
  const std::size_t copy = pipeline_->copy_position();
  const std::size_t bypass = request_.bypass_stage;
  if (request_.last_stage > collate) refuse("the last stage does not work on samples");
  if (request_.last_stage > 0 && (request_.boundary > 0 || bypass > 0))
    refuse("a last stage that is not live");
  if (request_.boundary > copy)
    refuse("boundary " + std::to_string(request_.boundary) + " is on the device");
  if (origin_ == Origin::cached_samples && request_.cache.samples.empty())
    refuse("no cached samples");
  if (origin_ == Origin::cached_batches && request_.cache.batches.empty())
    refuse("no cached batches");
  if (origin_ == Origin::sampler && epoch_length(*pipeline_) == 0) refuse("an epoch of no batches");
  if (bypass == 0) return;
  if (bypass > copy) refuse("bypass of a stage on the device");
  if (request_.boundary > 0) refuse("bypass and replay at once");
  const bool cached = bypass > collate ? !request_.bypass_cache.batches.empty()
                                       : !request_.bypass_cache.samples.empty();
  if (!cached) refuse("bypass without its cache");
}

void LoadProgram::add_sample_steps() {
  const auto& stages = pipeline_->stages();
  const std::size_t end =
      request_.last_stage > 0 ? request_.last_stage : pipeline_->collate_position();
  for (std::size_t i = request_.boundary; i < end; ++i) {
    auto kind = i == 0 ? LoadStep::Kind::read : LoadStep::Kind::process;
    if (request_.bypass_stage == i + 1) kind = LoadStep::Kind::substitute;
    // A cache that costs nothing has every sample.
    if (kind == LoadStep::Kind::substitute && stages[i].traits.caches) sample_steps_.clear();
    sample_steps_.push_back({kind, i, &stages[i]});
  }
}

void LoadProgram::find_cache_steps() {
  if (request_.on_sample) return;
  for (std::size_t i = sample_steps_.size(); i-- > 0;) {
    const LoadStep& step = sample_steps_[i];
    if (step.kind == LoadStep::Kind::process && step.link->traits.caches) cache_steps_.push_back(i);
  }
}

void LoadProgram::add_batch_steps() {
  const auto& stages = pipeline_->stages();
  const std::size_t collate = pipeline_->collate_position();
  if (request_.last_stage > 0) {
    collates_ = false;
    return;
  }
  collates_ = origin_ != Origin::cached_batches && request_.bypass_stage != collate + 1;
  if (request_.bypass_stage == collate + 1) {
    batch_steps_.push_back({LoadStep::Kind::substitute, collate, &stages[collate]});
  }
  for (std::size_t i = std::max(request_.boundary, collate + 1); i < pipeline_->copy_position();
       ++i) {
    const auto kind =
        request_.bypass_stage == i + 1 ? LoadStep::Kind::substitute : LoadStep::Kind::process;
    batch_steps_.push_back({kind, i, &stages[i]});
  }
}

BatchRange LoadProgram::range(std::uint64_t sequence) const noexcept {
  const std::uint64_t first = request_.first_position;
  if (origin_ != Origin::sampler || modulus_ % batch_size_ == 0) {
    return {first + sequence * batch_size_, static_cast<std::int64_t>(batch_size_)};
  }
  const std::uint64_t batches = modulus_ / batch_size_ + 1;
  const std::uint64_t batch =
      first / modulus_ * batches + first % modulus_ / batch_size_ + sequence;
  const std::uint64_t offset = batch % batches * batch_size_;
  return {batch / batches * modulus_ + offset,
          static_cast<std::int64_t>(std::min(batch_size_, modulus_ - offset))};
}

LoadCursor LoadProgram::cursor(std::uint64_t position) const noexcept {
  const bool passes = origin_ == Origin::sampler;
  return {passes ? position / modulus_ : request_.epoch, position % modulus_, modulus_, passes};
}

SampleIndex LoadProgram::index(const LoadCursor& at, OrderReader& reader) const {
  if (origin_ == Origin::indices) return request_.indices[at.offset];
  if (grouped_ == nullptr) return sampler_->index(at.epoch, place(at));
  return reader.index(*grouped_, at.epoch, request_.order_shift, at.offset);
}

SampleIndex LoadProgram::replacement(const LoadCursor& at, unsigned attempt) const noexcept {
  return sampler_->replacement(at.epoch, place(at), attempt);
}

const HostBatch& LoadProgram::cached_batch(std::uint64_t sequence) const noexcept {
  const auto& batches = request_.cache.batches;
  return batches[(request_.first_position / batch_size_ + sequence) % batches.size()];
}

const HostBatch& LoadProgram::bypass_batch(std::uint64_t sequence) const noexcept {
  const auto& batches = request_.bypass_cache.batches;
  return batches[(request_.first_position / batch_size_ + sequence) % batches.size()];
}

const Sample& LoadProgram::bypass_sample(std::uint64_t position) const noexcept {
  const auto& samples = request_.bypass_cache.samples;
  return samples[position % samples.size()];
}

}  // namespace cachebisect
