#include "cachebisect/tune/pipeline_subject.hpp"

#include <utility>

#include "cachebisect/compare/job_pair.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/measuring.hpp"

namespace cachebisect::tune {

PipelineSubject::PipelineSubject(PipelineSpec spec, const Registry& registry,
                                 const Options& options)
    : spec_(std::move(spec)), registry_(registry), options_(options) {
  if (options.scratch.empty()) return;
  const auto progress = [&options](const std::string& line) {
    if (options.announce) options.announce("writing: " + line);
  };
  scratch_.emplace(options.scratch, registry,
                   Scratch::Tools{.stop = options.stop, .progress = progress});
}

Report PipelineSubject::diagnose(double budget_seconds) {
  Job job = open(spec_);
  if (spec_.workers == kAutoWorkers) {
    spec_ = changed({{"/workers", std::to_string(job.workers)}});
  }
  PipelineReplayer replayer = job.make_replayer();
  return diagnosed(replayer, options_, budget_seconds);
}

void PipelineSubject::make(Trial& trial, double samples_per_second) {
  if (!scratch_) return Subject::make(trial, samples_per_second);
  const bool in_memory = scratch_->make(trial, spec_, samples_per_second);
  // What was just written is in memory, and would not be there in the next epoch. A cache is read
  // as it is: its file is no source, which alone can be read cold.
  if (!in_memory && !trial.written_after.empty()) io_ = IoMode::cold;
}

bool PipelineSubject::discard(const Trial& trial) { return scratch_ && scratch_->remove(trial); }

Comparison PipelineSubject::compare(const std::vector<Edit>& edits, double budget_seconds) {
  const IoMode io = std::exchange(io_, IoMode::as_is);
  Job now = open(spec_);
  Job other = open(changed(edits), io);
  PipelineReplayer a = now.make_replayer();
  PipelineReplayer b = other.make_replayer();
  JobPair pair(a, b);
  return compared(pair, {Arm{}, a.describe()}, {JobPair::other_job(), b.describe()}, options_,
                  budget_seconds);
}

std::string PipelineSubject::json() const { return to_json(spec_); }

PipelineSpec PipelineSubject::changed(const std::vector<Edit>& edits) const {
  return patch_pipeline(spec_, registry_, json_patch(edits));
}

Job PipelineSubject::open(const PipelineSpec& spec, IoMode io) const {
  return open_job(spec, registry_, {.io = io, .opening = {.stop = options_.stop}});
}

}  // namespace cachebisect::tune
