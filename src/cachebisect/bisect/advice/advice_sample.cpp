// What to try at read, decode and augment stages.
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/process_warnings.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

/// For shards that are read one sample at a time.
void propose_large_reads(Advice& advice, const StageReport& stage) {
  constexpr double kBufferMb = 256;
  advice.add(propose("large_reads", stage.name, "read about 1 MB at once, and shuffle in a buffer",
                     "storage gives more in large reads than in small ones",
                     {{"/stages/0/shuffle_buffer_mb", format_exact(kBufferMb)}}));
}

/// `why`: of packing.
void propose_large_files(Advice& advice, const StageReport& stage, const std::string& text,
                         const std::string& why) {
  if (stage.type == "read.shards" || stage.type == "read.webdataset") {
    return propose_large_reads(advice, stage);
  }
  Proposal proposal = propose("large_files", stage.name, text, why);
  if (!advice.of_code()) proposal.remedy.lines = {prepare_command(advice, stage)};
  advice.add(std::move(proposal));
}

/// An iterator that is no loader with settings: whatever it does, it makes each batch as a whole.
void advise_on_iterator(Advice& advice, const StageReport& stage) {
  if (advice.chain().workers == 0) {
    advice.add(propose("ahead", stage.name, "make batches in a thread, ahead of the step",
                       "now the training thread makes each batch itself, and the step waits", {},
                       CostChanges{.workers = 1}));
  }
  advice.add(propose("look_inside", stage.name, "see where " + stage.name + " spends its time",
                     "it was measured as a whole"));
}

/// Whether it waits or computes is not known.
void advise_on_unobserved_reading(Advice& advice, const StageReport& stage) {
  advice.add_workers(stage.name, "more workers read side by side");
  propose_large_files(advice, stage, "pack samples into few large files and read them in order",
                      "each small file costs a look-up of its own");
  advice.add(propose("storage", stage.name,
                     "see whether storage limits it: read the same files from memory",
                     "whether " + stage.name + " waits or computes was not observed"));
}

void advise_on_reading(Advice& advice, const StageReport& stage) {
  advise_on_storage(advice, stage);
  if (!Advice::observed(stage)) {
    return advice.can_set_workers() ? advise_on_unobserved_reading(advice, stage)
                                    : advise_on_iterator(advice, stage);
  }
  if (advice.mostly_waits(stage)) {
    advice.add_workers(stage.name, "reading waits for storage; more workers wait side by side",
                       true);
    offer_read_threads(advice, stage);
    advice.add(propose("storage", stage.name,
                       "move the data to faster storage: a local NVMe disk, or memory",
                       stage.name + " spends its time waiting, not computing"));
    return propose_large_files(advice, stage,
                               "pack samples into few large files and read them in order",
                               "each small file costs a look-up of its own");
  }
  advice.add_workers(stage.name, "reading is bound by the CPU and cores are idle");
  advice.add(propose("record_format", stage.name,
                     "store samples uncompressed, or in a cheaper format",
                     stage.name + " burns CPU time rather than waiting for storage"));
  propose_large_files(advice, stage, "pack samples into few large files",
                      "opening and closing a file for each sample is CPU time");
}

/// Words on the cores if fewer than the machine's whole ones can be used.
std::string core_limit(const Advice& advice) {
  const double usable = advice.usable_cpus();
  const double others = usable - advice.free_cpus();
  if (others <= 0 && usable == std::floor(usable)) return {};
  std::string text = ", and this process may use " + rate(usable) + " CPUs";
  if (others > 0) text += ", of which other processes kept " + rate(others) + " busy";
  return text;
}

void advise_on_waiting(Advice& advice, const StageReport& stage) {
  advice.add_workers(stage.name, stage.name + " waits; more workers wait side by side", true);
  advice.add(propose("lock", stage.name,
                     "take what " + stage.name + " waits for out of the sample path",
                     "a lock, a sleep or a remote call holds the worker while its core is idle; if "
                     "it is one lock for all, more workers will not help",
                     {}, free_stage(stage)));
}

void propose_fewer_threads(Advice& advice, const StageReport& stage) {
  const ChainDescription& chain = advice.chain();
  if (extra_worker_threads(chain) <= advice.usable_cpus() * ranks_per_machine(chain)) return;
  advice.add(propose("worker_threads", stage.name, "let each worker compute with one thread",
                     std::to_string(chain.workers) + " workers with " +
                         std::to_string(chain.worker_threads) + " threads each share " +
                         rate(advice.usable_cpus()) + " cores",
                     {{"/worker_threads", "1"}}));
}

/// What a job in code can try in its workers; empty for others.
std::vector<Edit> half_scale(const ChainDescription& chain) {
  const bool can_run =
      !chain.settings.of_file && chain.settings.at(settings::kDecodeScale) != nullptr;
  if (!can_run || chain.workers == 0) return {};
  return {{"/" + std::string(settings::kDecodeScale), "2"}};
}

void advise_on_computing(Advice& advice, const StageReport& stage) {
  offer_order(advice, stage);
  propose_fewer_threads(advice, stage);
  advice.add_workers(stage.name, Advice::observed(stage)
                                     ? stage.name + " is bound by the CPU and cores are idle"
                                     : "more workers do " + stage.name + " side by side");
  offer_device(advice, stage);
  if (stage.category == Category::decode) {
    offer_less_decoding(advice, stage);
    if (!advice.of_code()) offer_prepared(advice, stage);
    advice.add(propose("smaller_images", stage.name,
                       "store the images at the size that training needs",
                       "decoding costs by the pixel, and pixels beyond the crop are thrown away"));
    if (advice.of_code()) {
      advice.add(propose("partial_decode", stage.name,
                         "decode only the part or the scale that is used",
                         "JPEG can be decoded at 1/2, 1/4 or 1/8 scale at a fraction of the cost",
                         half_scale(advice.chain())));
    }
  } else {
    offer_other_order(advice, stage);
    offer_prepared(advice, stage);
  }
  if (!Advice::observed(stage)) return;
  advice.add(propose("more_cpu", stage.name, "use a machine with more cores per GPU",
                     "all " + percent(stage.busy_share.value_or(1)) + " of the workers' time in " +
                         stage.name + " is CPU time" + core_limit(advice)));
}

}  // namespace

void advise_on_sample_stage(Advice& advice, const StageReport& stage) {
  if (stage.category == Category::cache) return advise_on_cache(advice, stage);
  offer_cache(advice, stage);
  offer_disk_cache(advice, stage);
  offer_reuse(advice, stage);
  offer_worker_settings(advice, stage);
  if (stage.category == Category::read) {
    advise_on_reading(advice, stage);
  } else if (advice.mostly_waits(stage)) {
    advise_on_waiting(advice, stage);
  } else {
    advise_on_computing(advice, stage);
  }
  offer_unused(advice, stage);
}

}  // namespace cachebisect
