// What the stand-in driver reads of a kernel's image: the sizes of its parameters.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

template <class T> T at(const char* p, size_t offset) {
  T v;
  std::memcpy(&v, p + offset, sizeof v);
  return v;
}

// The parameter sizes of a kernel in a cubin: attribute 0x17 of section .nv.info.NAME.
std::vector<unsigned> cubin_parameters(const char* d, const std::string& name) {
  const size_t sections = at<uint64_t>(d, 0x28), size = at<uint16_t>(d, 0x3A), count = at<uint16_t>(d, 0x3C), names = at<uint16_t>(d, 0x3E);
  const size_t strings = at<uint64_t>(d, sections + size * names + 24);
  std::vector<std::pair<unsigned, unsigned>> found;
  for (size_t i = 0; i < count; i++) {
    const size_t s = sections + size * i;
    if (".nv.info." + name != d + strings + at<uint32_t>(d, s)) continue;
    for (size_t p = at<uint64_t>(d, s + 24), end = p + at<uint64_t>(d, s + 32); p < end;) {
      const auto form = at<uint8_t>(d, p), attribute = at<uint8_t>(d, p + 1);
      const auto value = at<uint16_t>(d, p + 2);
      p += 4;
      if (form != 4) continue;
      if (attribute == 0x17) found.push_back({at<uint16_t>(d, p + 4), at<uint32_t>(d, p + 8) >> 18});
      p += value;
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<unsigned> sizes;
  for (auto [ordinal, bytes] : found) sizes.push_back(bytes);
  return sizes;
}

// Images of tests: "STANDIN1", the number of parameters and the size of each as u32.
std::vector<unsigned> test_parameters(const char* d) {
  std::vector<unsigned> sizes(at<uint32_t>(d, 8));
  for (size_t i = 0; i < sizes.size(); i++) sizes[i] = at<uint32_t>(d, 12 + 4 * i);
  return sizes;
}
