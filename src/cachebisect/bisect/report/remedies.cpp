#include "cachebisect/bisect/report/remedies.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/bisect/report/format.hpp"
#include "cachebisect/bisect/report/remedy_edits.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMost = 3;
constexpr double kLeastShare = 0.1;  ///< of a core that a process gets in the end
constexpr double kMostlyWaiting = 0.5;
constexpr double kLoadWorthCounting = 0.5;  ///< CPUs busy with other processes

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Advisor {
 public:
  explicit Advisor(const Report& report) : report_(report) {}

  std::vector<Remedy> advise() {
    switch (report_.verdict.kind) {
      case VerdictKind::drop:
        stage_by_name(report_.verdict.fix_first);
        stage_by_name(report_.verdict.stage);
        for (const auto& name : report_.verdict.tied_with) stage_by_name(name);
        break;
      case VerdictKind::spread:
        workers(std::string(), "many stages together keep the workers busy");
        for (const auto& name : report_.verdict.shares) stage_by_name(name);
        break;
      case VerdictKind::flat:
        training_step();
        break;
      case VerdictKind::anomaly:
      case VerdictKind::inconclusive:
        break;
    }
    if (remedies_.size() > kMost) remedies_.resize(kMost);
    return std::move(remedies_);
  }

 private:
  void add(Remedy remedy) {
    const bool known = std::any_of(remedies_.begin(), remedies_.end(),
                                   [&](const Remedy& r) { return r.id == remedy.id; });
    if (!known) remedies_.push_back(std::move(remedy));
  }

  [[nodiscard]] static std::string pointer(const StageReport& stage, const std::string& key = {}) {
    return "/stages/" + std::to_string(stage.index - 1) + (key.empty() ? "" : "/" + key);
  }

  void stage_by_name(const std::string& name) {
    const auto found = std::find_if(report_.stages.begin(), report_.stages.end(),
                                    [&](const StageReport& s) { return s.name == name; });
    if (found == report_.stages.end()) return;
    const StageReport& stage = *found;
    if (stage.category == Category::copy) {
      copy(stage);
    } else if (stage.category == Category::device) {
      device_stage(stage);
    } else if (stage.category == Category::read) {
      read(stage);
    } else if (stage.category == Category::collate) {
      collate(stage);
    } else {
      transform(stage);
    }
  }

  /// Usable, less what other processes kept busy.
  [[nodiscard]] double free_cpus() const {
    const double others = report_.machine.noise.other_load.value_or(0);
    return report_.machine.usable_cpus - (others >= kLoadWorthCounting ? others : 0);
  }

  /// More workers, as far as cores (or waiting) allow.
  void workers(const std::string& stage, const std::string& reason, bool waiting = false) {
    const int now = report_.chain.workers;
    const int cores = std::max(1, static_cast<int>(std::floor(free_cpus())));
    const int better = waiting ? std::max(2 * std::max(1, now), cores) : cores;
    if (better <= now) return;
    add({.id = "workers",
         .stage = stage,
         .text = "use " + std::to_string(better) + " workers instead of " + std::to_string(now),
         .reason =
             now == 0 ? "now the training thread loads every batch itself; " + reason : reason,
         .flags = {"--workers " + std::to_string(better)},
         .edits = {{"/workers", std::to_string(better)}},
         .predicted = std::nullopt,
         .measured = std::nullopt});
  }

  void say(std::string id, const StageReport* stage, std::string text, std::string reason,
           std::vector<Edit> edits = {}, std::vector<std::string> flags = {}) {
    add({.id = std::move(id),
         .stage = stage == nullptr ? std::string() : stage->name,
         .text = std::move(text),
         .reason = std::move(reason),
         .flags = std::move(flags),
         .edits = std::move(edits),
         .predicted = std::nullopt,
         .measured = std::nullopt});
  }

  /// Waiting of its own, not for a core that more workers than there are free ones share.
  [[nodiscard]] bool mostly_waits(const StageReport& stage) const {
    if (!stage.cpu_seconds_per_sample || !stage.wait_seconds_per_sample) return false;
    const double cpu = *stage.cpu_seconds_per_sample;
    const double busy = cpu + *stage.wait_seconds_per_sample;
    const double sharing = report_.chain.workers / std::max(free_cpus(), kLeastShare);
    const double own = *stage.wait_seconds_per_sample - cpu * std::max(0.0, sharing - 1);
    return busy > 0 && own > kMostlyWaiting * busy;
  }

  void read(const StageReport& stage) {
    if (mostly_waits(stage)) {
      workers(stage.name, "reading waits for storage; more workers wait side by side", true);
      say("storage", &stage, "move the data to faster storage: a local NVMe disk, or memory",
          stage.name + " spends its time waiting, not computing");
      say("large_files", &stage, "pack samples into few large files and read them in order",
          "each small file costs a look-up of its own");
    } else {
      workers(stage.name, "reading is bound by the CPU and cores are idle");
      say("record_format", &stage, "store samples uncompressed, or in a cheaper format",
          stage.name + " burns CPU time rather than waiting for storage");
      say("large_files", &stage, "pack samples into few large files",
          "opening and closing a file for each sample is CPU time");
    }
  }

  void transform(const StageReport& stage) {
    if (mostly_waits(stage)) {
      workers(stage.name, stage.name + " waits; more workers wait side by side", true);
      say("lock", &stage, "take what " + stage.name + " waits for out of the sample path",
          "a lock, a sleep or a remote call holds the worker while its core is idle; if it is one "
          "lock for all, more workers will not help");
      return;
    }
    workers(stage.name, stage.name + " is bound by the CPU and cores are idle");
    offer_device(stage);
    if (stage.category == Category::decode) {
      say("smaller_images", &stage, "store the images at the size that training needs",
          "decoding costs by the pixel, and pixels beyond the crop are thrown away");
      say("partial_decode", &stage, "decode only the part or the scale that is used",
          "JPEG can be decoded at 1/2, 1/4 or 1/8 scale at a fraction of the cost");
    } else {
      say("order", &stage, "put " + stage.name + " after the stages that make samples smaller",
          "work on fewer pixels: crop, then transform");
      if (!stage.random) {
        say("prepare", &stage, "do " + stage.name + " once, when the data set is prepared",
            "its output is the same in every epoch");
      }
    }
    say("more_cpu", &stage, "use a machine with more cores a GPU",
        "all " + percent(stage.busy_share.value_or(1)) + " of the workers' time in " + stage.name +
            " is CPU time" + core_limit());
  }

  /// Words on the cores where there are fewer than whole ones of the machine to have.
  [[nodiscard]] std::string core_limit() const {
    const double usable = report_.machine.usable_cpus;
    const double others = usable - free_cpus();
    if (others <= 0 && usable == std::floor(usable)) return {};
    std::string text = ", and this process may use " + rate(usable) + " CPUs";
    if (others > 0) text += ", of which other processes kept " + rate(others) + " busy";
    return text;
  }

  /// Element-wise stages run after the copy for next to nothing, and the copy shrinks.
  void offer_device(const StageReport& stage) {
    static constexpr std::array kMovable{"to_float", "normalize", "one_hot"};
    for (const std::string what : kMovable) {
      if (stage.type != "augment." + what) continue;
      say("to_device", &stage, "do it on the device: device." + what + " after the copy",
          "element-wise work is next to free there, and raw bytes are copied instead of floats",
          move_to_device(report_.chain, {static_cast<std::size_t>(stage.index) - 1}));
    }
  }

  /// Floats that the host makes of uint8 are made on the device instead.
  void ship_bytes() {
    std::vector<std::size_t> moved;
    for (const StageReport& stage : report_.stages) {
      const bool makes_floats =
          stage.type == "augment.normalize" || stage.type == "augment.to_float";
      if (makes_floats) moved.push_back(static_cast<std::size_t>(stage.index) - 1);
    }
    if (moved.empty()) return;
    const std::string type = report_.stages[moved.back()].type;
    say("ship_bytes", &report_.stages[moved.front()],
        "copy uint8 and convert on the device: device" + type.substr(type.find('.')),
        "float32 is four times the bytes of uint8, and the copy pays by the byte",
        move_to_device(report_.chain, moved));
  }

  void collate(const StageReport& stage) {
    if (stage.type == "collate.pad") {
      say("bucket", &stage, "group samples of like size into a batch",
          percent(stage.padding_share.value_or(0)) + " of every batch is padding");
    }
    workers(stage.name, "batches are put together by the workers");
    say("smaller_samples", &stage, "make samples smaller before they are put together",
        "collate copies every byte of the batch");
  }

  void copy(const StageReport& stage) {
    std::vector<Edit> edits;
    if (!report_.chain.copy_pinned) edits.push_back({pointer(stage, "pinned"), "true"});
    if (!report_.chain.copy_non_blocking) edits.push_back({pointer(stage, "non_blocking"), "true"});
    if (report_.chain.copy_prefetch == 0) edits.push_back({pointer(stage, "prefetch"), "2"});
    if (!edits.empty()) {
      say("overlap_copy", &stage,
          "copy from pinned memory, ahead of the step, on a stream of its own",
          "only then do copy and training step run side by side", std::move(edits));
    }
    for (const StageReport& before : report_.stages) {
      if (before.type == "augment.one_hot") offer_device(before);
    }
    ship_bytes();
    for (const StageReport& before : report_.stages) {
      if (before.type == "collate.pad") {
        say("bucket", &before, "group samples of like size into a batch",
            percent(before.padding_share.value_or(0)) + " of what is copied is padding");
      }
    }
    say("fewer_bytes", &stage, "drop fields that the step does not use, or store them narrower",
        "the copy pays by the byte: " + bytes_per_batch());
    say("half", &stage, "cast floats to 16 bits before the copy, if the step computes in 16 bits",
        "it halves what is copied");
  }

  [[nodiscard]] std::string bytes_per_batch() const {
    const auto& bytes = report_.chain.stages.back().output_bytes;
    if (!bytes) return "its size is not known";
    return rate(*bytes * static_cast<double>(report_.chain.batch_size) / 1e6) + " MB a batch";
  }

  void device_stage(const StageReport& stage) {
    say("fuse", &stage, "do " + stage.name + " inside the training step's own compiled graph",
        "each device stage reads and writes the whole batch once more");
    say("half", &stage, "compute it in 16 bits", "device stages are bound by memory bandwidth");
  }

  void training_step() {
    const ChainDescription& chain = report_.chain;
    const bool gpu = chain.device_kind == DeviceKind::cuda;
    if (chain.device_kind == DeviceKind::cpu) {
      say("emulate", nullptr, "see where this input would stand with a GPU behind it",
          "on the CPU the step is slow enough to hide every stage", {}, {"--device emulated"});
    }
    if (chain.sync_every > 0) {
      say("no_sync", nullptr, "do not wait for the device in every step (loss.item() and the like)",
          "the host cannot run ahead of the device", {{"/train/sync_every", "0"}});
    }
    if (contains(chain.train, "fp32") && gpu) {
      say("precision", nullptr, "train in bf16-mixed precision",
          "tensor cores are several times faster in 16 bits",
          {{"/train/precision", R"("bf16-mixed")"}});
    }
    const std::int64_t larger = 2 * chain.batch_size;
    say("batch_size", nullptr, "use a larger batch, as far as memory allows",
        "a step has costs that do not grow with the batch",
        {{"/batch_size", std::to_string(larger)}}, {"--batch-size " + std::to_string(larger)});
    if (contains(chain.train, "fp32") && !gpu) {
      say("precision", nullptr, "train in bf16-mixed precision where the processor has it",
          "half the bytes move in every layer", {{"/train/precision", R"("bf16-mixed")"}});
    }
    say("model", nullptr, "make the model cheaper: fewer channels, smaller input, a compiled graph",
        "all of the time goes into the training step");
  }

  const Report& report_;
  std::vector<Remedy> remedies_;
};

}  // namespace

std::vector<Remedy> find_remedies(const Report& report) { return Advisor(report).advise(); }

}  // namespace cachebisect
