#include "training_log/series.hpp"

#include <algorithm>
#include <cmath>

namespace gradlab::training_log {

void Bucket::add(double value) {
  ++lines;
  if (!std::isfinite(value)) {
    ++nonfinite;
    return;
  }
  least = finite == 0 ? value : std::min(least, value);
  most = finite == 0 ? value : std::max(most, value);
  sum += value;
  newest = value;
  ++finite;
}

void Bucket::take(const Bucket& other) {
  if (other.finite > 0) {
    least = finite == 0 ? other.least : std::min(least, other.least);
    most = finite == 0 ? other.most : std::max(most, other.most);
    sum += other.sum;
    newest = other.newest;
  }
  last = other.last;
  lines += other.lines;
  finite += other.finite;
  nonfinite += other.nonfinite;
}

void Series::add(std::int64_t step, double value) {
  if (buckets_.empty() || buckets_.back().lines == width_) {
    if (buckets_.size() == kBuckets) {
      for (std::size_t i = 0; i < kBuckets / 2; ++i) {
        buckets_[i] = buckets_[2 * i];
        buckets_[i].take(buckets_[2 * i + 1]);
      }
      buckets_.resize(kBuckets / 2);
      width_ *= 2;
    }
    buckets_.emplace_back();
    buckets_.back().first = step;
  }
  buckets_.back().last = step;
  buckets_.back().add(value);
}

}  // namespace gradlab::training_log
