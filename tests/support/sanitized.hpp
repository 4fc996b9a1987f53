// Whether a sanitizer watches this build: what is repeated for its statistics is then repeated less
// often.
#pragma once

// GCC says so by macros, Clang by features.
#if defined(__has_feature)
#define CACHEBISECT_TESTS_HAVE(feature) __has_feature(feature)
#else
#define CACHEBISECT_TESTS_HAVE(feature) 0
#endif

namespace cachebisect::test {

#if defined(__SANITIZE_THREAD__) || CACHEBISECT_TESTS_HAVE(thread_sanitizer)
inline constexpr bool kIsThreadSanitized = true;
#else
inline constexpr bool kIsThreadSanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || CACHEBISECT_TESTS_HAVE(address_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = kIsThreadSanitized;
#endif

}  // namespace cachebisect::test
