#include "cachebisect/base/quantiles.hpp"

#include <algorithm>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace cachebisect {
namespace {

namespace policies = boost::math::policies;

/// In double precision, whatever the machine has beyond it, so that all machines say the same. What
/// is out of range gives NaN or infinity, as functions of the standard library do.
using Policy = policies::policy<policies::promote_double<false>,
                                policies::discrete_quantile<policies::integer_round_down>,
                                policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>>;

}  // namespace

double normal_quantile(double probability) noexcept {
  const double p = std::clamp(probability, 1e-300, 1 - 1e-16);
  return quantile(boost::math::normal_distribution<double, Policy>(), p);
}

double student_quantile(double probability, double freedom) {
  const boost::math::students_t_distribution<double, Policy> student(freedom);
  return quantile(complement(student, (1 - probability) / 2));
}

double beta_quantile(double a, double b, double probability) {
  return quantile(boost::math::beta_distribution<double, Policy>(a, b), probability);
}

std::optional<std::size_t> heads_quantile(std::size_t coins, double probability) {
  const boost::math::binomial_distribution<double, Policy> heads(static_cast<double>(coins), 0.5);
  if (cdf(heads, 0) > probability) return std::nullopt;
  return static_cast<std::size_t>(quantile(heads, probability));
}

}  // namespace cachebisect
