// A custom pipeline and training step: sound clips -> spectrogram -> batches -> a linear
// classifier. Which stage starves the step?
//
//   custom_pipeline [BUDGET_SECONDS]
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <numbers>
#include <vector>

#include <cachebisect/cachebisect.hpp>

namespace {

using cachebisect::DeviceBatch;
using cachebisect::Sample;
using cachebisect::SampleIndex;

constexpr std::size_t kLength = 512;  // amplitudes in a clip
constexpr std::size_t kBins = 32;     // frequencies in a spectrogram
constexpr std::size_t kClips = 4096;

/// The source: clip i is a tone; its label says whether the tone is high.
void read_clip(SampleIndex index, Sample& out) {
  const auto tone = static_cast<double>(index.value % kBins);
  const auto clip = out.field("clip").resize_as<float>({kLength});
  for (std::size_t t = 0; t < kLength; ++t) {
    clip[t] = static_cast<float>(
        std::sin(2 * std::numbers::pi * tone * static_cast<double>(t) / kLength));
  }
  out.field("label").set<std::int64_t>(index.value % kBins >= kBins / 2 ? 1 : 0);
}

/// The training step: logistic regression on the spectrograms.
class Classifier {
 public:
  void step(const DeviceBatch& batch) {
    const auto& clips = batch.tensor("clip");
    const auto* rows = reinterpret_cast<const float*>(clips.data);
    const auto* labels = reinterpret_cast<const std::int64_t*>(batch.tensor("label").data);
    for (std::int64_t i = 0; i < batch.size; ++i) {
      const float* row = rows + i * static_cast<std::int64_t>(kBins);
      float score = 0;
      for (std::size_t k = 0; k < kBins; ++k) score += weights_[k] * row[k];
      const float error = 1 / (1 + std::exp(-score)) - static_cast<float>(labels[i]);
      for (std::size_t k = 0; k < kBins; ++k) weights_[k] -= 0.01F * error * row[k];
    }
  }

 private:
  std::array<float, kBins> weights_{};
};

}  // namespace

int main(int argc, char** argv) try {
  const auto spectrogram = [](const Sample& in, Sample& out) {
    const auto clip = in.field("clip").as<float>();
    const auto power = out.field("clip").resize_as<float>({kBins});
    for (std::size_t k = 0; k < kBins; ++k) {
      double real = 0;
      double imaginary = 0;
      for (std::size_t t = 0; t < clip.size(); ++t) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k * t % kLength) / kLength;
        real += clip[t] * std::cos(angle);
        imaginary -= clip[t] * std::sin(angle);
      }
      power[k] = static_cast<float>(std::sqrt(real * real + imaginary * imaginary) / kLength);
    }
  };
  const auto pipeline = cachebisect::PipelineBuilder{}
                            .source("read", kClips, read_clip)
                            .stage("spectrogram", spectrogram)
                            .collate()
                            .copy()
                            .batch_size(64)
                            .workers(1)
                            .device("cpu")
                            .build();
  Classifier model;
  const auto report =
      cachebisect::bisect(pipeline, [&](const DeviceBatch& batch) { model.step(batch); },
                          {.budget_seconds = argc > 1 ? std::atof(argv[1]) : 10.0});
  std::cout << cachebisect::to_text(report);
  return 0;
} catch (const cachebisect::Error& error) {
  std::cerr << error.what() << '\n';
  return cachebisect::exit_code(error.kind());
}
