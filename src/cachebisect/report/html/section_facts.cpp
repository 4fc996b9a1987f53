// Cache, machine, device, pipeline and settings.
#include <string>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/reading_text.hpp"

namespace cachebisect::html {
namespace {

/// Terms and what they stand for, under a heading.
class Facts {
 public:
  explicit Facts(const char* heading) { all_.add(document::Heading{heading}); }
  void add(const char* term, document::Text value) {
    facts_.items.push_back({std::move(value), term});
  }
  [[nodiscard]] Html html() && {
    all_.add(std::move(facts_));
    return element("div", to_html(all_));
  }

 private:
  Document all_;
  document::List facts_;
};

Html cache_facts(const Report& report) {
  const CacheFacts& cache = report.cache;
  Facts facts("Cache");
  facts.add("samples at each boundary", format_count(cache.samples));
  facts.add("host memory", format_bytes(cache.bytes_host));
  facts.add("device memory", format_bytes(cache.bytes_device));
  facts.add("limited by", cache.limited_by.empty() ? "nothing" : cache.limited_by);
  facts.add("step with twice as many samples",
            report.k2k_change ? share_figure(report.k2k_change) + " longer" : kNotMeasured);
  facts.add("data in memory before live blocks read it", share_figure(report.resident_share));
  facts.add("time to fill", time_figure(report.timing.cache_seconds));
  return std::move(facts).html();
}

Html machine_facts(const MachineReport& machine) {
  Facts facts("Machine");
  facts.add("processor", machine.cpu);
  facts.add("cores", std::to_string(machine.cores) + ", of which this process may use " +
                         rate(machine.usable_cpus));
  facts.add("memory", format_bytes(machine.memory_bytes));
  facts.add("system", machine.os);
  if (machine.virtualized) facts.add("virtual machine", *machine.virtualized ? "yes" : "no");
  facts.add("tool's own cost", machine.floor.ns_per_sample
                                   ? format_number(*machine.floor.ns_per_sample) + " ns per sample"
                                   : kNotMeasured);
  return std::move(facts).html();
}

Html noise_facts(const Report& report) {
  const Noise& noise = report.machine.noise;
  Facts facts("Noise");
  facts.add("variation of blocks", share_figure(noise.block_cv));
  facts.add("an arm against itself", share_figure(noise.null_drop));
  facts.add("drift of live", share_figure(noise.drift));
  facts.add("stolen by other virtual machines", share_figure(noise.steal_share));
  facts.add("CPUs busy with other processes", number_figure(noise.other_load));
  facts.add("change of the clock", share_figure(noise.frequency_change));
  facts.add("periods without CPU quota left", share_figure(noise.throttled_share));
  facts.add("waiting for memory", share_figure(noise.memory_stall_share));
  facts.add("cost of the probes", share_figure(report.overhead));
  return std::move(facts).html();
}

Html job_facts(const Report& report) {
  const ChainDescription& chain = report.chain;
  Facts facts("Job");
  facts.add("device", chain.device_name);
  if (chain.device_memory_bytes)
    facts.add("device memory", format_bytes(*chain.device_memory_bytes));
  if (chain.copy_gb_per_s) {
    facts.add("copy from pinned memory", format_number(*chain.copy_gb_per_s) + " GB/s");
  }
  if (!chain.file.empty()) facts.add("file", chain.file);
  facts.add("samples in the data set", format_count(chain.samples));
  if (const std::string reading = reading_text(report); !reading.empty()) {
    facts.add("reading", reading);
  }
  facts.add("workers", std::to_string(chain.workers));
  facts.add("training thread waits for a batch", share_figure(report.live_loop.starved_share));
  facts.add("batches ready when it asks", number_figure(report.live_loop.ready_batches));
  if (report.skipped > 0) facts.add("damaged samples skipped", format_count(report.skipped));
  return std::move(facts).html();
}

std::string sustained(const std::optional<SustainedReport>& run) {
  if (!run) return kNotMeasured;
  return rate_with_interval(run->samples_per_second) + " samples/s, in " +
         format_seconds(run->seconds);
}

Html sustained_facts(const Report& report) {
  Facts facts("In one piece");
  facts.add("live", sustained(report.live_sustained));
  facts.add("step alone", sustained(report.ceiling_sustained));
  return std::move(facts).html();
}

Html run_facts(const Report& report) {
  const BisectSettings& settings = report.settings;
  Facts facts("Run");
  facts.add("confidence", format_percent(settings.confidence));
  facts.add("smallest drop named", format_percent(settings.min_drop));
  facts.add("smallest drop that would show", share_figure(report.verdict.detectable_drop));
  facts.add("budget", format_seconds(settings.budget_seconds));
  facts.add("reading", settings.io);
  if (settings.order_nonce) facts.add("began at --nonce", std::to_string(*settings.order_nonce));
  facts.add("time to prepare", time_figure(report.timing.prepare_seconds));
  facts.add("time to measure", time_figure(report.timing.measure_seconds));
  facts.add("time to the verdict", time_figure(report.timing.verdict_seconds));
  facts.add("time in all", time_figure(report.timing.wall_seconds));
  facts.add("time to the first batch", time_figure(report.timing.first_batch_seconds));
  return std::move(facts).html();
}

}  // namespace

Html facts_section(const Report& report) {
  return section("facts", "Cache, machine and run",
                 element("div", {{"class", "columns"}},
                         cache_facts(report) + machine_facts(report.machine) + noise_facts(report) +
                             job_facts(report) + run_facts(report) + sustained_facts(report)));
}

}  // namespace cachebisect::html
