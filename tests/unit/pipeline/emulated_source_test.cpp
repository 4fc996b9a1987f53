// A source over emulated storage reads what it would read anyway, and asks once for each read.
#include "cachebisect/pipeline/emulated_source.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/run_reader.hpp"

using namespace cachebisect;
using test::error_message;
using test::has;
using test::usage_error;

namespace {

/// Storage that answers at once.
constexpr StorageSpec kInstant{.latency_ms = 0,
                               .latency_p99_ms = {},
                               .bandwidth_mb_per_s = 0,
                               .requests_per_second = 0,
                               .burst = 1};

/// Ten samples of three bytes, in such files.
class ListedSource : public SourceStage {
 public:
  explicit ListedSource(std::vector<FileRange> files) : files_(std::move(files)) {}
  void open_with(const OpenContext& context) override { stop_ = context.stop; }
  [[nodiscard]] std::uint64_t size() const override { return 10; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {3}}}; }
  void read(Sample& out, const SampleContext& context) const override {
    if (context.index() == 9) throw Error(ErrorKind::data, "damaged");
    out.field("image").assign("abc");
  }
  [[nodiscard]] bool generated() const override { return true; }
  [[nodiscard]] std::vector<FileRange> files(SampleIndex /*index*/) const override {
    return files_;
  }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

 private:
  std::vector<FileRange> files_;
  std::stop_token stop_;
};

/// Each sample begins a run of 40 bytes, if there are runs.
class RunSource final : public ListedSource, public RunReader {
 public:
  explicit RunSource(bool runs) : ListedSource({{"x", 0, 7}}), runs_(runs) {}
  bool listen(Listener listener) override {
    if (runs_) before_ = std::move(listener);
    return runs_;
  }
  void read(Sample& out, const SampleContext& context) const override {
    if (before_) before_(40);
    ListedSource::read(out, context);
  }

 private:
  bool runs_;
  Listener before_;
};

void read(const SourceStage& source, std::uint64_t index) {
  Arena arena;
  Sample sample;
  source.read(sample, SampleContext({.index = index}, arena));
  CHECK(sample.field("image").byte_size() == 3);
}

/// What reading two samples of `source` asks for.
StorageTotals asked(std::shared_ptr<SourceStage> source) {
  EmulatedSource emulated(std::move(source), kInstant, 1);
  emulated.open();
  for (std::uint64_t index = 0; index < 2; ++index) read(emulated, index);
  return emulated.totals();
}

void check_asked(const StorageTotals& totals, std::uint64_t requests, double bytes) {
  CHECK(totals.requests == requests);
  CHECK(totals.bytes == bytes);
}

PipelineBuilder builder(std::shared_ptr<SourceStage> source) {
  PipelineBuilder chain;
  chain.source("read", {"read.listed", {}, std::move(source)}).collate().copy().batch_size(2);
  return chain;
}

}  // namespace

TEST_CASE("a request is a range of a file, a whole file, a run, or else a sample") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("file", std::string(100, 'x'));
  check_asked(
      asked(std::make_shared<ListedSource>(std::vector<FileRange>{{file, 0, 20}, {file, 50, 5}})),
      4, 50);
  check_asked(
      asked(std::make_shared<ListedSource>(std::vector<FileRange>{{file, 10, FileRange::kToEnd}})),
      2, 180);
  check_asked(asked(std::make_shared<ListedSource>(
                  std::vector<FileRange>{{folder.path("none"), 0, FileRange::kToEnd}})),
              2, 0);
  check_asked(asked(std::make_shared<ListedSource>(std::vector<FileRange>{})), 2, 6);
  check_asked(asked(std::make_shared<RunSource>(true)), 2, 80);
  check_asked(asked(std::make_shared<RunSource>(false)), 2, 14);
}

TEST_CASE("it says of itself what its source says") {
  EmulatedSource emulated(std::make_shared<ListedSource>(std::vector<FileRange>{{"x", 3, 4}}),
                          kInstant, 1);
  CHECK(emulated.size() == 10);
  CHECK(emulated.generated());
  CHECK(emulated.infer() == SampleSpec{{"image", DType::uint8, {3}}});
  CHECK(emulated.read_runs().samples == 1);
  REQUIRE(emulated.files({0}).size() == 1);
  CHECK(emulated.files({0})[0].offset == 3);
  CHECK(error_message([&] { read(emulated, 9); }, ErrorKind::data) == "damaged");
}

TEST_CASE("the stop that a source is opened with reaches it, and ends waits") {
  StorageSpec endless = kInstant;
  endless.latency_ms = 1e6;
  const auto source = std::make_shared<ListedSource>(std::vector<FileRange>{{"x", 0, 1}});
  EmulatedSource emulated(source, endless, 1);
  std::stop_source stop;
  emulated.open_with({.stop = stop.get_token()});
  CHECK(source->stop() == stop.get_token());
  stop.request_stop();
  CHECK(error_message([&] { read(emulated, 0); }, ErrorKind::interrupted) == "stopped");
}

TEST_CASE("a pipeline puts the storage behind its source, and its spec says so") {
  const auto source = std::make_shared<ListedSource>(std::vector<FileRange>{});
  const Pipeline pipeline = builder(source).emulate_storage(kInstant).build();
  CHECK(pipeline.spec().emulated_storage == kInstant);
  CHECK_FALSE(pipeline.spec().emulate);
  const auto* const emulated = dynamic_cast<const EmulatedSource*>(&pipeline.source());
  REQUIRE(emulated != nullptr);
  read(pipeline.source(), 3);
  CHECK(emulated->totals().requests == 1);
  CHECK(dynamic_cast<const EmulatedSource*>(&builder(source).build().source()) == nullptr);
}

TEST_CASE("storage that makes no sense is refused with the name of the setting") {
  StorageSpec negative = kInstant;
  negative.bandwidth_mb_per_s = -1;
  const std::string message = usage_error([&] {
    (void)builder(std::make_shared<ListedSource>(std::vector<FileRange>{}))
        .emulate_storage(negative)
        .build();
  });
  CHECK(has(message, "emulate.storage: bandwidth: 0 (no limit) or more"));
}
