// A plugin whose stages and training step fail once a file exists, with exceptions of all kinds.
#include <memory>
#include <new>
#include <stdexcept>

#include <unistd.h>

#include "cachebisect/pipeline/plugin.hpp"
#include "cachebisect/train/train_step.hpp"

namespace {

using namespace cachebisect;

struct OwnType {};

class Fault {
 public:
  explicit Fault(const Params& params)
      : file_(params.string("once_exists")), thrown_(params.string("throws")) {}

  void check() const {
    if (access(file_.c_str(), F_OK) != 0) return;
    if (thrown_ == "bad_alloc") throw std::bad_alloc();
    throw OwnType();
  }

 private:
  std::string file_;
  std::string thrown_;
};

std::vector<ParamSpec> fault_params() {
  return {{.name = "once_exists", .type = ParamType::string, .doc = "the file to wait for"},
          {.name = "throws",
           .type = ParamType::string,
           .doc = "what it throws",
           .choices = {"bad_alloc", "own_type"}}};
}

class FailingStage final : public SampleStage {
 public:
  explicit FailingStage(const Params& params) : fault_(params) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    fault_.check();
  }

 private:
  Fault fault_;
};

class FailingStep final : public TrainStep {
 public:
  explicit FailingStep(const Params& params) : fault_(params) {}
  [[nodiscard]] std::string name() const override { return "failing"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {
    fault_.check();
  }

 private:
  Fault fault_;
};

/// Fails when asked where its samples are.
class FailingSource final : public SourceStage {
 public:
  explicit FailingSource(const Params& params) : fault_(params) {}
  [[nodiscard]] std::uint64_t size() const override { return 100'000; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {16}}}; }
  void read(Sample& out, const SampleContext& /*context*/) const override {
    out.field("image").resize_as<std::uint8_t>({16});
  }
  [[nodiscard]] std::vector<FileRange> files(SampleIndex /*index*/) const override {
    fault_.check();
    return {};
  }

 private:
  Fault fault_;
};

void register_failing(Registry& registry) {
  registry.add(StageType{
      .type = "test.failing",
      .doc = "fails once a file exists",
      .params = fault_params(),
      .example = R"({"once_exists": "/tmp/now", "throws": "bad_alloc"})",
      .make = [](const Params& params) { return std::make_unique<FailingStage>(params); }});
  registry.add(StageType{
      .type = "read.failing",
      .doc = "cannot say where its samples are",
      .kind = StageKind::source,
      .params = fault_params(),
      .example = R"({"once_exists": "/tmp/now", "throws": "bad_alloc"})",
      .make = [](const Params& params) { return std::make_unique<FailingSource>(params); }});
  registry.add(TrainStepType{
      .type = "test.failing_step",
      .doc = "fails once a file exists",
      .params = fault_params(),
      .make = [](const Params& params) { return std::make_shared<FailingStep>(params); }});
}

}  // namespace

CACHEBISECT_PLUGIN(register_failing)
