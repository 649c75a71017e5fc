#include "training_log/output/page_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 512;  // a plot is hardly wider

constexpr PlotText kPlots[] = {
    {"loss", "Loss", "--part", &Run::loss, false},
    {"norm", "Gradient norm, before clipping", "--belief", &Run::norm, false},
    {"scale", "Loss scale", "--odd", &Run::scale, true},
    {"skip", "Skipped steps", "--bad-fill", &Run::skip, false},
};

std::vector<Bucket> thinned(const Series& series) {
  std::vector<Bucket> buckets = series.buckets();
  while (buckets.size() > kMostPoints) {
    std::vector<Bucket> half;
    for (std::size_t i = 0; i < buckets.size(); i += 2) {
      half.push_back(buckets[i]);
      if (i + 1 < buckets.size()) half.back().take(buckets[i + 1]);
    }
    buckets.swap(half);
  }
  return buckets;
}

// Four digits are a pixel's worth.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, 4 - std::floor(std::log10(std::fabs(value))));
  return std::isfinite(unit) ? std::round(value * unit) / unit : value;
}

}  // namespace

std::span<const PlotText> page_plots() { return kPlots; }

nlohmann::ordered_json plot_numbers(const PlotText& text, const Run& run) {
  Json mean = Json::array(), least = Json::array(), most = Json::array(), bad = Json::array();
  double low = 0, high = 0;
  bool any = false;
  for (const Bucket& bucket : thinned(run.*text.series)) {
    const std::int64_t at = bucket.first + (bucket.last - bucket.first) / 2;
    if (bucket.nonfinite > 0) bad.push_back(at);
    if (bucket.finite == 0) {
      mean.push_back({{"x", at}, {"y", nullptr}});  // a gap, never a 0
      continue;
    }
    // Skips add up; a scale between two powers of two never was.
    const double value = text.series == &Run::skip    ? bucket.sum
                         : text.series == &Run::scale ? bucket.newest
                                                      : bucket.mean();
    mean.push_back({{"x", at}, {"y", rounded(value)}});
    least.push_back({{"x", at}, {"y", rounded(bucket.least)}});
    most.push_back({{"x", at}, {"y", rounded(bucket.most)}});
    low = any ? std::min(low, bucket.least) : bucket.least;
    high = any ? std::max(high, bucket.most) : bucket.most;
    any = true;
  }
  const bool logarithmic = low > 0 && high > low && (text.logarithmic || high > 50 * low);
  return {{"colour", text.colour},
          {"bars", text.series == &Run::skip},
          {"steps", text.series == &Run::scale},
          {"logarithmic", logarithmic},
          {"flat", any && low == high ? Json(low) : Json(nullptr)},
          {"first", run.first},
          {"last", run.last},
          {"mean", mean},
          {"least", least},
          {"most", most},
          {"bad", bad}};
}

std::string plot_sentence(const PlotText& text, const Run& run) {
  std::int64_t bad = 0, finite = 0;
  double low = 0, high = 0, newest = 0, sum = 0;
  for (const Bucket& bucket : (run.*text.series).buckets()) {
    bad += bucket.nonfinite;
    if (bucket.finite == 0) continue;
    low = finite == 0 ? bucket.least : std::min(low, bucket.least);
    high = finite == 0 ? bucket.most : std::max(high, bucket.most);
    finite += bucket.finite;
    newest = bucket.newest;
    sum += bucket.sum;
  }
  if (text.series == &Run::skip) {
    return sum == 0 ? "No step was skipped." : plural(std::llround(sum), "step") + " skipped.";
  }
  std::string told = finite == 0   ? "No finite value."
                     : low == high ? fmt::format("Always {}.", shown(low))
                                   : fmt::format("From {} to {}; {} at the end.", shown(low),
                                                 shown(high), shown(newest));
  if (bad > 0) told += fmt::format(" Not finite in {}.", plural(bad, "line"));
  return told;
}

}  // namespace gradlab::training_log
