// Bisects a pipeline of built-in stages, given as JSON text, with a training step of its own.
#include <iostream>

#include <cachebisect/cachebisect.hpp>
#include <cachebisect/stages.hpp>

constexpr const char* kPipeline = R"({
  "name": "consumer",
  "batch_size": 16,
  "workers": 1,
  "stages": [
    {"use": "synthetic.read", "bytes": 1024, "samples": 4096},
    {"use": "synthetic.wait", "us": 100},
    {"use": "collate.stack"},
    {"use": "copy.device"}
  ],
  "train": {"kind": "callback"},
  "device": "cpu"
})";

int main() try {
  cachebisect::Registry registry;
  cachebisect::stages::register_all(registry);
  const auto pipeline = cachebisect::Pipeline::from_json(kPipeline, registry);

  std::int64_t seen = 0;
  const auto report = cachebisect::bisect(
      pipeline, [&](const cachebisect::DeviceBatch& batch) { seen += batch.size; },
      {.budget_seconds = 5});
  std::cerr << "the step saw " << seen << " samples\n";
  cachebisect::write_json(report, std::cout);
  return 0;
} catch (const cachebisect::Error& error) {
  std::cerr << error.what() << '\n';
  return cachebisect::exit_code(error.kind());
}
