// Signatures of AWS (version 4), computed apart from libcurl, to check those that it makes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace cachebisect::test {

/// SHA-256 (FIPS 180-4), 32 bytes.
inline std::string sha256(const std::string& text) {
  constexpr std::array<std::uint32_t, 64> kRound{
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded = text + '\x80';
  padded.resize((padded.size() + 8 + 63) / 64 * 64 - 8, '\0');
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t b = 0; b < 4; ++b) {
        w[i] = w[i] << 8 | static_cast<unsigned char>(padded[block + 4 * i + b]);
      }
    }
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> round{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += round[i];
  }
  std::string digest;
  for (const std::uint32_t word : state) {
    for (int shift = 24; shift >= 0; shift -= 8) digest += static_cast<char>(word >> shift & 0xff);
  }
  return digest;
}

/// RFC 2104, over SHA-256; `key` has at most 64 bytes.
inline std::string hmac_sha256(const std::string& key, const std::string& text) {
  std::string inner(64, '\x36');
  std::string outer(64, '\x5c');
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  return sha256(outer + sha256(inner + text));
}

inline std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// "GET /bucket/key HTTP/1.1" and headers, one per line.
class SignedRequest {
 public:
  explicit SignedRequest(std::string head) : head_(std::move(head)) {}

  /// Empty if there is none; names are compared without case.
  [[nodiscard]] std::string header(const std::string& name) const {
    for (std::size_t at = head_.find("\r\n"); at != std::string::npos;
         at = head_.find("\r\n", at)) {
      at += 2;
      bool same = head_.size() > at + name.size() && head_[at + name.size()] == ':';
      for (std::size_t i = 0; same && i < name.size(); ++i) {
        same = std::tolower(static_cast<unsigned char>(head_[at + i])) ==
               std::tolower(static_cast<unsigned char>(name[i]));
      }
      if (!same) continue;
      const std::size_t begin = head_.find_first_not_of(' ', at + name.size() + 1);
      return head_.substr(begin, head_.find("\r\n", begin) - begin);
    }
    return "";
  }
  /// "Credential" or another part of the authorization.
  [[nodiscard]] std::string part(const std::string& name) const {
    const std::string all = header("Authorization");
    const std::size_t at = all.find(name + "=");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 1;
    return all.substr(begin, all.find(',', begin) - begin);
  }
  [[nodiscard]] std::string path() const {
    const std::size_t begin = head_.find(' ') + 1;
    return head_.substr(begin, head_.find(' ', begin) - begin);
  }
  /// What the holder of the secret writes under this request.
  [[nodiscard]] std::string signature(const std::string& secret) const {
    const std::string target = path();
    const std::size_t mark = std::min(target.find('?'), target.size());
    std::string canonical = "GET\n" + target.substr(0, mark) + "\n" + sorted_query(target) + "\n";
    const std::string names = part("SignedHeaders");
    for (std::size_t begin = 0; begin <= names.size();) {
      const std::size_t end = std::min(names.find(';', begin), names.size());
      const std::string name = names.substr(begin, end - begin);
      canonical += name + ":" + header(name) + "\n";
      begin = end + 1;
    }
    canonical += "\n" + names + "\n" + header("x-amz-content-sha256");
    const std::string credential = part("Credential");
    const std::string scope = credential.substr(credential.find('/') + 1);
    std::string key = "AWS4" + secret;
    for (std::size_t begin = 0; begin <= scope.size();) {
      const std::size_t end = std::min(scope.find('/', begin), scope.size());
      key = hmac_sha256(key, scope.substr(begin, end - begin));
      begin = end + 1;
    }
    return hexadecimal(hmac_sha256(key, "AWS4-HMAC-SHA256\n" + header("x-amz-date") + "\n" + scope +
                                            "\n" + hexadecimal(sha256(canonical))));
  }

 private:
  /// The parameters of a URL, by their names.
  static std::string sorted_query(const std::string& target) {
    std::set<std::string> all;
    for (std::size_t begin = target.find('?'); begin < target.size();) {
      const std::size_t end = std::min(target.find('&', begin + 1), target.size());
      all.insert(target.substr(begin + 1, end - begin - 1));
      begin = end;
    }
    std::string query;
    for (const std::string& one : all) query += (query.empty() ? "" : "&") + one;
    return query;
  }

  std::string head_;
};

}  // namespace cachebisect::test
