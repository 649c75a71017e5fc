// A series of any length for a plot: at most kBuckets buckets, each with the least, the largest and
// the mean finite value of its steps. When they are full, neighbours are merged.
#pragma once

#include <cstdint>
#include <vector>

namespace gradlab::training_log {

struct Bucket {
  std::int64_t first = 0, last = 0;  // steps
  std::int64_t lines = 0, finite = 0, nonfinite = 0;
  double least = 0, most = 0, sum = 0, newest = 0;
  void add(double value);
  void take(const Bucket& other);                                    // the one behind this
  double mean() const { return sum / static_cast<double>(finite); }  // REQUIRES: finite > 0
};

class Series {
 public:
  static constexpr std::size_t kBuckets = 1024;
  void add(std::int64_t step, double value);
  const std::vector<Bucket>& buckets() const { return buckets_; }
  bool empty() const { return buckets_.empty(); }

 private:
  std::vector<Bucket> buckets_;
  std::int64_t width_ = 1;  // values a bucket holds
};

}  // namespace gradlab::training_log
