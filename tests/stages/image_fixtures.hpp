// The images of tests/fixtures/make_augment_fixtures.py, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachebisect::test {

struct FixtureImage {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::string dtype;
  std::vector<std::byte> bytes;

  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(height * width * channels);
  }
};

inline std::map<std::string, FixtureImage> load_fixtures() {
  const std::string folder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/augment/";
  std::ifstream index(folder + "index.txt");
  std::ifstream data(folder + "images.bin", std::ios::binary);
  std::map<std::string, FixtureImage> images;
  std::string line;
  while (std::getline(index, line)) {
    std::istringstream words(line);
    std::string name;
    FixtureImage image;
    words >> name >> image.height >> image.width >> image.channels >> image.dtype;
    image.bytes.resize(image.elements() * (image.dtype == "float32" ? 4 : 1));
    data.read(reinterpret_cast<char*>(image.bytes.data()),
              static_cast<std::streamsize>(image.bytes.size()));
    if (!words || !data) throw std::runtime_error("damaged fixtures in " + folder);
    images.emplace(name, std::move(image));
  }
  return images;
}

inline const FixtureImage& fixture(const std::string& name) {
  static const std::map<std::string, FixtureImage> images = load_fixtures();
  return images.at(name);
}

}  // namespace cachebisect::test
