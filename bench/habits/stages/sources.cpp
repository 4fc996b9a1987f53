// Sources with the habits of storage: burst credits, a client that reads ahead, a page cache.
#include "bench/habits/stages/fetch_ahead.hpp"
#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/seen_set.hpp"
#include "bench/habits/stages/spending.hpp"
#include "bench/habits/stages/token_bucket.hpp"
#include "stages/support/synthetic.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/pace.hpp"

namespace cachebisect::habits {
namespace {

/// `image` is bytes that cost nothing, `label` the index; what a read waits for differs.
class FreeSource : public SourceStage {
 public:
  explicit FreeSource(const Params& params)
      : samples_(static_cast<std::uint64_t>(params.integer("samples"))),
        bytes_(params.integer("bytes")) {}

  [[nodiscard]] std::uint64_t size() const final { return samples_; }
  [[nodiscard]] SampleSpec infer() final {
    return {{"image", DType::uint8, Shape{bytes_.bytes()}}, {"label", DType::int64, Shape{}}};
  }
  void read(Sample& out, const SampleContext& context) const final {
    wait(context);
    bytes_.show(context.index(), out.field("image"));
    out.field("label").set(static_cast<std::int64_t>(context.index().value));
  }

 protected:
  virtual void wait(const SampleContext& context) const = 0;

 private:
  std::uint64_t samples_;
  stages::FreeBytes bytes_;
};

class Credits final : public FreeSource {
 public:
  explicit Credits(const Params& params)
      : FreeSource(params), bucket_(params.number("credits"), params.number("per_second")) {}

 private:
  void wait(const SampleContext& /*context*/) const override {
    // A worker that is due later has not arrived yet, one that is late would have come earlier.
    double arrival = monotonic_seconds();
    if (WorkerPace* const pace = PaceOfThread::current()) {
      pace->wall.arrive(arrival);
      arrival = pace->wall.due();
    }
    pass_wait(bucket_.take(arrival) - arrival);
  }

  mutable TokenBucket bucket_;
};

class ReadAhead final : public FreeSource {
 public:
  explicit ReadAhead(const Params& params)
      : FreeSource(params),
        seconds_(1e-6 * params.number("us")),
        ahead_(static_cast<std::uint64_t>(params.integer("ahead"))) {}

  void open() override {
    if (seconds_ > 0) client_ = std::make_unique<FetchAhead>(seconds_, ahead_);
  }

 private:
  void wait(const SampleContext& /*context*/) const override {
    if (client_) client_->take();
  }

  double seconds_;
  std::uint64_t ahead_;
  std::unique_ptr<FetchAhead> client_;
};

class PageCache final : public FreeSource {
 public:
  explicit PageCache(const Params& params)
      : FreeSource(params),
        cold_(1e-6 * params.number("us")),
        warm_(1e-6 * params.number("again_us")),
        file_(params.has("state_file") ? params.string("state_file") : "") {}

  void open() override { resident_ = std::make_unique<SeenSet>(size(), file_); }

 private:
  void wait(const SampleContext& context) const override {
    pass_wait(resident_->insert(context.index()) ? cold_ : warm_);
  }

  double cold_;
  double warm_;
  std::string file_;
  std::unique_ptr<SeenSet> resident_;
};

template <class Kind>
StageType source_type(std::string type, std::string doc, std::vector<ParamSpec> params,
                      std::string example) {
  params.push_back(count_param("samples", "number of samples", 1, 1e12));
  params.push_back(stages::bytes_param("size of a sample's image, in bytes", 1024));
  StageType made =
      stage_type<Kind>(std::move(type), std::move(doc), std::move(params), std::move(example));
  made.kind = StageKind::source;
  made.traits.planted = true;
  return made;
}

}  // namespace

void register_sources(Registry& registry) {
  registry.add(source_type<Credits>(
      "habit.credits", "Storage with burst credits: reads are free until they are spent",
      {number_param("credits", "samples that a full bucket of credits pays for", 1, 1e12),
       number_param("per_second", "samples per second that new credits pay for", 1e-3, 1e12)},
      R"({"credits": 100, "per_second": 1000, "samples": 1000})"));
  StageType ahead = source_type<ReadAhead>(
      "habit.read_ahead", "Storage whose client fetches samples ahead, in a thread of its own",
      {number_param("us", "time to fetch a sample, in microseconds", 0, 1e7),
       count_param("ahead", "samples that are fetched ahead at most", 1, 1e9)},
      R"({"us": 5, "ahead": 100, "samples": 1000})");
  ahead.traits.planted = false;
  registry.add(std::move(ahead));
  registry.add(source_type<PageCache>(
      "habit.page_cache", "Storage behind a page cache: a sample's second read is fast",
      {number_param("us", "time to read a sample from storage, in microseconds", 0, 1e7),
       number_param("again_us", "time to read it again, in microseconds", 0, 1e7),
       {.name = "state_file",
        .type = ParamType::path,
        .doc = "file that holds what is cached, for later runs",
        .optional = true}},
      R"({"us": 5, "again_us": 1, "samples": 1000})"));
}

}  // namespace cachebisect::habits
