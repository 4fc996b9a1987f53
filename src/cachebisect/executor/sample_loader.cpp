#include "cachebisect/executor/sample_loader.hpp"

#include <utility>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/executor/slot_memory.hpp"
#include "cachebisect/pipeline/chain.hpp"

namespace cachebisect {
SampleLoader::SampleLoader(const Pipeline& pipeline, const std::vector<RowLayout>& layouts,
                           SkipCounter& skipped, const LoaderTraits& traits)
    : pipeline_(&pipeline),
      rows_(pipeline, layouts),
      skipped_(&skipped),
      slots_(traits.slots),
      number_(traits.number),
      sized_(pipeline.static_shapes()),
      outputs_(pipeline.collate_position()),
      probe_(traits.clocks, traits.observation_budget, traits.number),
      batch_probe_(traits.clocks, traits.observation_budget, traits.number),
      times_(pipeline.stages().size()) {}

void SampleLoader::begin_run(const LoadProgram& program) {
  program_ = &program;
  LoadRecorder* const recorder = program.request().recorder;
  record_ = recorder == nullptr ? nullptr : &recorder->worker(number_);
  samples_.begin_run(program, pipeline_->source());
  const auto& steps = program.sample_steps();
  const bool writes =
      program.collates() && !steps.empty() && steps.back().kind != LoadStep::Kind::substitute;
  final_ = writes ? steps.size() - 1 : steps.size();
  for (Sample& sample : outputs_) {
    for (Sample::NamedField& named : sample.fields()) named.field.detach();
  }
  for (StageTimes& times : times_) times.clear();
  slot_write_.clear();
  serial_ = 0;
  const std::size_t collating = program.collates() ? 1 : 0;
  probe_.reset(steps.size() + collating);
  batch_probe_.reset(program.batch_steps().size() + collating);
}

void SampleLoader::load(BatchSlot& slot, std::int64_t row, const LoadCursor& at,
                        std::uint64_t position) {
  if (program_->origin() == LoadProgram::Origin::cached_samples) {
    const Sample& cached = program_->request().cache.samples[at.offset];
    try {
      run(slot, row, at.epoch, cached.index(), &cached, position);
    } catch (...) {
      throw explained();
    }
    return check_memory(slot, row);
  }
  SampleIndex index = samples_.index(at, position);
  for (unsigned attempt = 1;; ++attempt) {
    try {
      run(slot, row, at.epoch, index, nullptr, position);
      break;
    } catch (...) {
      if (observed_) probe_.end();
      index = replace(explained(), at, attempt);
    }
  }
  check_memory(slot, row);
}

void SampleLoader::check_memory(BatchSlot& slot, std::int64_t row) {
  if (sized_ || !program_->collates()) return;
  const auto bytes = static_cast<double>(slot.staged(row).byte_size());
  check_slot_memory({slots_, pipeline_->batch_size(), gathered_bytes_per_sample(bytes)},
                    available_memory().available_bytes);
  sized_ = true;
}

void SampleLoader::run(BatchSlot& slot, std::int64_t row, std::uint64_t epoch, SampleIndex index,
                       const Sample* input, std::uint64_t position) {
  const LoadRequest& request = program_->request();
  const auto& steps = program_->sample_steps();
  observed_ = request.observe && probe_.begin();
  recorded_ = record_ != nullptr && record_->begin();
  for (std::size_t i = first_step(slot, row, index, input, position); i < steps.size(); ++i) {
    const LoadStep& step = steps[i];
    current_ = step.link;
    current_index_ = index;
    if (step.kind == LoadStep::Kind::substitute) {
      input = &program_->bypass_sample(position);
      index = input->index();
      epoch = request.epoch;
      if (observed_) probe_.lap(ignored_);
      continue;
    }
    current_origin_ = input != nullptr ? input->origin() : SampleOrigin{};
    Sample& buffer = outputs_[step.position];
    Sample& out = i == final_ ? rows_.target(slot, row, buffer) : buffer;
    run_step(step, input, out, epoch, index);
    samples_.fetch_some();
    if (observed_) probe_.lap(times_[step.position]);
    if (recorded_) record_->lap(LoadWork::stage, step.position, position);
    if (request.on_sample) request.on_sample(step.position + 1, position, out);
    input = &out;
  }
  slot.set_index(row, index);
  if (!program_->collates()) {
    if (observed_) probe_.end();
    return;
  }
  // For errors: the last sample stage made what does not fit the row.
  current_ = &pipeline_->stages()[pipeline_->collate_position() - 1];
  current_origin_ = input->origin();
  rows_.store(slot, row, *input, final_ < steps.size());
  samples_.fetch_some();
  if (recorded_) record_->lap(LoadWork::slot_write, 0, position);
  if (observed_) {
    probe_.lap(slot_write_);
    probe_.end();
  }
}

std::size_t SampleLoader::first_step(BatchSlot& slot, std::int64_t row, SampleIndex index,
                                     const Sample*& input, std::uint64_t position) {
  const auto& steps = program_->sample_steps();
  for (const std::size_t at : program_->cache_steps()) {
    const LoadStep& step = steps[at];
    Sample& buffer = outputs_[step.position];
    Sample& out = at == final_ ? rows_.shown(slot, row, buffer) : buffer;
    if (!static_cast<const CacheStage&>(*step.link->stage).find(index, out)) continue;
    samples_.fetch_some();
    if (observed_) {
      probe_.lap(times_[step.position]);
      // Those that it spares took no time.
      for (std::size_t i = 0; i < at; ++i) probe_.lap(times_[steps[i].position]);
    }
    if (recorded_) record_->lap(LoadWork::stage, step.position, position);
    input = &out;
    return at + 1;
  }
  return 0;
}

void SampleLoader::run_step(const LoadStep& step, const Sample* input, Sample& out,
                            std::uint64_t epoch, SampleIndex index) {
  const ProfilerRange range(step.link->name.c_str());
  arena_.reset();
  const SampleContext context({pipeline_->spec().seed, epoch, index.value, step.link->random_key},
                              arena_, &serial_);
  if (step.kind == LoadStep::Kind::read) {
    out.set_index(index);
    out.set_origin(SampleOrigin{});
    static_cast<const SourceStage&>(*step.link->stage).read(out, context);
  } else {
    out.begin_from(*input);
    static_cast<const SampleStage&>(*step.link->stage).process(*input, out, context);
  }
  note_serial(step.position);
}

void SampleLoader::count(std::int64_t samples) noexcept {
  const auto n = static_cast<std::uint64_t>(samples);
  for (const LoadStep& step : program_->sample_steps()) {
    if (step.kind != LoadStep::Kind::substitute) times_[step.position].samples.add(n);
  }
  if (program_->collates()) slot_write_.samples.add(n);
  skipped_->add_loaded(n);
}

void SampleLoader::finish(BatchSlot& slot, std::uint64_t sequence, std::int64_t size) {
  const LoadRequest& request = program_->request();
  observed_ = request.observe && batch_probe_.begin();
  recorded_ = record_ != nullptr && record_->begin();
  const std::size_t collate = pipeline_->collate_position();
  const HostBatch* batch = nullptr;
  const LoadCursor at = program_->cursor(program_->range(sequence).first_position);
  try {
    if (program_->origin() == LoadProgram::Origin::cached_batches) {
      batch = &program_->cached_batch(sequence);
    } else if (program_->collates()) {
      current_ = &pipeline_->stages()[collate];
      if (observed_) batch_probe_.start_lap();
      batch = &slot.collate(pipeline_->collate(), size, at.epoch);
      end_lap(collate, size, sequence);
    }
    if (batch != nullptr && request.on_batch && request.boundary <= collate) {
      request.on_batch(collate + 1, sequence, *batch);
    }
    for (const LoadStep& step : program_->batch_steps()) {
      current_ = step.link;
      if (step.kind == LoadStep::Kind::substitute) {
        batch = &program_->bypass_batch(sequence);
        continue;
      }
      const SampleIndex first = batch->indices.empty() ? SampleIndex{} : batch->indices.front();
      batch = run_batch_step(step, *batch, slot,
                             {pipeline_->spec().seed, at.epoch, first, step.link->random_key},
                             sequence);
      if (request.on_batch) request.on_batch(step.position + 1, sequence, *batch);
    }
  } catch (...) {
    throw current_error(ErrorKind::data).with_context(describe(*current_));
  }
  if (observed_) batch_probe_.end(static_cast<double>(size) * probe_.sample_seconds());
  slot.ready = batch;
}

void SampleLoader::end_lap(std::size_t position, std::int64_t samples,
                           std::uint64_t sequence) noexcept {
  if (observed_) batch_probe_.lap(times_[position], samples);
  if (recorded_) record_->lap(LoadWork::stage, position, sequence);
  times_[position].samples.add(static_cast<std::uint64_t>(samples));
}

const HostBatch* SampleLoader::run_batch_step(const LoadStep& step, const HostBatch& input,
                                              BatchSlot& slot, const RandomKey& key,
                                              std::uint64_t sequence) {
  const ProfilerRange range(step.link->name.c_str());
  if (observed_) batch_probe_.start_lap();
  arena_.reset();
  OwnedHostBatch& out = slot.output(step.position);
  out.begin_from(input);
  static_cast<const BatchStage&>(*step.link->stage).process(input, out, {key, arena_, &serial_});
  end_lap(step.position, input.size, sequence);
  note_serial(step.position);
  return &out.batch;
}

Error SampleLoader::explained() const {
  const std::string sample = describe(current_index_, current_origin_);
  const std::string where = current_ == nullptr ? sample : describe(*current_) + ": " + sample;
  return current_error(ErrorKind::data).with_context(where);
}

SampleIndex SampleLoader::replace(const Error& error, const LoadCursor& at, unsigned attempt) {
  const bool may = current_ != nullptr && current_->skip_damaged && error.kind() == ErrorKind::data;
  if (!may) throw Error(error);
  skipped_->add_skipped(error.what());
  if (attempt > SkipCounter::kMaxAttempts) {
    throw Error(ErrorKind::data, std::string("a damaged sample's ") +
                                     std::to_string(SkipCounter::kMaxAttempts) +
                                     " replacements were damaged too; the last: " + error.what());
  }
  return program_->replacement(at, attempt);
}

void SampleLoader::add_to(LoadCounters& counters) const {
  for (std::size_t i = 0; i < counters.stages.size(); ++i) {
    StageCounters& sum = counters.stages[i];
    sum.busy_seconds += times_[i].busy_seconds();
    sum.cpu_seconds += times_[i].cpu_seconds();
    sum.samples += times_[i].samples.get();
    sum.serial_seconds += times_[i].serial.get();
  }
  const std::size_t last = pipeline_->collate_position() - 1;
  const double writing = slot_write_.busy_seconds();
  counters.stages[last].slot_write_seconds += writing;
  counters.stages[last].slot_writes += slot_write_.samples.get();
  if (times_[last].samples.get() > 0) {
    // If the last sample stage runs, writing into the slot is part of it.
    counters.stages[last].busy_seconds += writing;
    counters.stages[last].cpu_seconds += slot_write_.cpu_seconds();
  }
  counters.observing_seconds += probe_.observing_seconds() + batch_probe_.observing_seconds();
}

std::size_t SampleLoader::capacity() const noexcept {
  std::size_t bytes = arena_.capacity();
  for (const Sample& sample : outputs_) {
    for (const Sample::NamedField& named : sample.fields()) bytes += named.field.capacity();
  }
  return bytes;
}

}  // namespace cachebisect
