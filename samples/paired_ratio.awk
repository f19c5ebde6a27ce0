# Decides from pairs of consecutive runs whether the second of each is faster.
#
# Reads one line per pair: rate before, rate after. Prints one line:
#   PAIRS BEFORE AFTER RATIO LOW HIGH VERDICT
# RATIO is the median of the pairs' ratios, on a logarithmic scale; BEFORE and AFTER are the rates of the
# middle pair (geometric means of the two middle pairs), so that AFTER / BEFORE is RATIO. LOW and HIGH are
# order statistics of the ratios: an interval that contains the true median with a probability of at least 95
# % for any distribution. VERDICT is faster or slower when the interval excludes 1, else unclear; few when the
# pairs are too few for such an interval (below six).
{
  if (NF != 2 || $1 + 0 <= 0 || $2 + 0 <= 0) {
    print "paired_ratio.awk: line " NR ": expected two rates above 0, not '" $0 "'" >"/dev/stderr"
    bad = 1
    exit 2
  }
  # Sorted as they come.
  value = log($2 / $1)
  for (at = n++; at > 0 && difference[at - 1] > value; --at) {
    difference[at] = difference[at - 1]; before[at] = before[at - 1]; after[at] = after[at - 1]
  }
  difference[at] = value; before[at] = $1; after[at] = $2
}
END {
  if (bad) exit 2
  if (n == 0) { print "paired_ratio.awk: no pairs" >"/dev/stderr"; exit 2 }
  upper = int(n / 2); lower = n % 2 ? upper : upper - 1
  ratio = exp((difference[lower] + difference[upper]) / 2)
  # The probability that the true median is beyond the outer `rank` values on one side is that of so few heads
  # in n throws.
  share = 0.5 ^ n; tail = share; rank = 0
  while (2 * (tail + share * (n - rank) / (rank + 1)) <= 0.05) {
    share *= (n - rank) / (rank + 1); ++rank; tail += share
  }
  low = exp(difference[rank]); high = exp(difference[n - 1 - rank])
  verdict = 2 * tail > 0.05 ? "few" : low > 1 ? "faster" : high < 1 ? "slower" : "unclear"
  printf "%d %.1f %.1f %.4f %.4f %.4f %s\n", n, sqrt(before[lower] * before[upper]), sqrt(after[lower] * after[upper]),
    ratio, low, high, verdict
}
