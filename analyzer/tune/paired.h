// The statistic of a search: pairs of runs, one with a change and one without, in random order.
//
// A run's rate is its metric in the direction in which more is better. The result is the median of the pairs' ratios, on a
// logarithmic scale, with an interval that holds however often one looks: after each pair the search may stop or go on.
//
// Each end of the interval inverts a one-sided sign test. If m were the true median, each pair would be above it with probability
// 1/2 at most. The evidence against that after n pairs, k of them above m, is the likelihood ratio of a mixture over the
// probabilities above 1/2, with the weights of the upper half of a Beta(w, w) distribution, w = 0.09:
//   E(n, k) = 2^n * 2 * integral from 1/2 to 1 of p^(k + w - 1) (1 - p)^(n - k + w - 1) dp / B(w, w)
// E is a supermartingale that begins at 1, so by Ville's inequality it ever reaches 1/alpha with a probability of at most alpha,
// whatever distribution the ratios have. The order of a pair's runs is random, so without an effect the signs are fair coins also
// where the machine drifts. With alpha = 5 % five pairs of one sign are the fewest that decide, or twelve with one of the other.
#pragma once

#include <span>

namespace pitwall::tuning {

struct Pair {
  double before = 0, after = 0;  // rates, above 0: more is better
};

// E(n, k) above; 0 <= larger <= pairs.
double signEvidence(int larger, int pairs);

// How many of the least, and of the greatest, ratios the interval leaves out; -1: so few pairs have no interval.
int ranksOutside(int pairs, double alpha);

struct Ratio {
  int pairs = 0;
  double middle = 1;  // the median of after / before
  double before = 0,
         after =
             0;  // of the middle pair, or geometric means of the two middle ones: after / before is middle
  bool has_interval = false;
  double
      low = 0,
      high =
          0;  // order statistics: each is on its side of the true median with a probability of at least 1 - alpha

  bool isAbove(double ratio) const { return has_interval && low > ratio; }
  bool isBelow(double ratio) const { return has_interval && high < ratio; }
};

// `alpha` is the share of searches in which an end of the interval may ever be on the wrong side of the true median, for each end.
Ratio ratioOf(std::span<const Pair> pairs, double alpha);

}  // namespace pitwall::tuning
