#include "training_log/output/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr int kLabel = 10;  // "1.234e-05 " before the axis
constexpr double kWide = 50;

int columns_of(int width) { return std::max(width, 40) - kLabel - 1; }

// Buckets as columns; a bucket wider than a column fills all it spans.
std::vector<Bucket> columns(const Series& series, std::int64_t first, std::int64_t last,
                            int count) {
  std::vector<Bucket> result(static_cast<std::size_t>(count));
  const double span = static_cast<double>(std::max<std::int64_t>(last - first, 1));
  const auto column = [&](std::int64_t step) {
    const double at = static_cast<double>(step - first) / span * (count - 1);
    return std::clamp(static_cast<int>(std::lround(at)), 0, count - 1);
  };
  for (const Bucket& bucket : series.buckets()) {
    const int from = column(bucket.first), to = column(bucket.last);
    for (int i = from; i <= to; ++i) result[static_cast<std::size_t>(i)].take(bucket);
  }
  return result;
}

struct Axis {
  double low = 0, high = 0;
  bool logarithmic = false;
  int rows = 7;

  double place(double value) const { return logarithmic ? std::log(value) : value; }
  int row(double value) const {  // 0 is the top
    const double low_at = place(low), high_at = place(high);
    if (high_at <= low_at) return rows / 2;
    const double part = (place(value) - low_at) / (high_at - low_at);
    return std::clamp(static_cast<int>(std::lround((1 - part) * (rows - 1))), 0, rows - 1);
  }
};

Axis axis_of(const std::vector<Bucket>& columns, const PlotStyle& style) {
  Axis axis;
  axis.rows = style.rows;
  bool any = false;
  double least_positive = 0;
  for (const Bucket& column : columns) {
    if (column.finite == 0) continue;
    axis.low = any ? std::min(axis.low, column.least) : column.least;
    axis.high = any ? std::max(axis.high, column.most) : column.most;
    if (column.least > 0 && (least_positive == 0 || column.least < least_positive)) {
      least_positive = column.least;
    }
    any = true;
  }
  const bool wide = axis.low > 0 && axis.high > kWide * axis.low;
  axis.logarithmic = axis.low > 0 && (wide || style.logarithmic) && axis.high > axis.low;
  return axis;
}

void draw(const Bucket& column, const Axis& axis, std::size_t at, std::vector<std::string>& rows) {
  if (column.finite > 0) {
    const int top = axis.row(column.most), bottom = axis.row(column.least);
    for (int row = top; row <= bottom; ++row) rows[static_cast<std::size_t>(row)][at] = ':';
    rows[static_cast<std::size_t>(axis.row(column.mean()))][at] = '*';
  }
  if (column.nonfinite > 0) rows[0][at] = 'x';
}

void trim(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::vector<std::string> plot(const Series& series, std::int64_t first, std::int64_t last,
                              const PlotStyle& style) {
  const auto all = columns(series, first, last, columns_of(style.width));
  const Axis axis = axis_of(all, style);
  std::vector<std::string> rows(static_cast<std::size_t>(style.rows), std::string(all.size(), ' '));
  for (std::size_t i = 0; i < all.size(); ++i) draw(all[i], axis, i, rows);
  const bool any = std::any_of(all.begin(), all.end(), [](const auto& c) { return c.finite > 0; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string label;
    const bool flat = axis.low == axis.high;
    if (any && flat && i == rows.size() / 2) label = shown(axis.high);
    if (any && !flat && i == 0) label = shown(axis.high);
    if (any && !flat && i + 1 == rows.size()) label = shown(axis.low);
    rows[i] = fmt::format("{:>{}}|{}", label, kLabel, rows[i]);
    trim(rows[i]);
  }
  return rows;
}

std::string skip_strip(const Series& skips, std::int64_t first, std::int64_t last, int width) {
  std::string line = fmt::format("{:>{}}|", "skipped", kLabel);
  for (const Bucket& column : columns(skips, first, last, columns_of(width))) {
    const int count = static_cast<int>(std::min(column.sum, 10.0));
    line += column.lines == 0 ? ' '
            : count == 0      ? '.'
            : count > 9       ? '#'
                              : static_cast<char>('0' + count);
  }
  trim(line);
  return line;
}

std::vector<std::string> step_axis(std::int64_t first, std::int64_t last, int width) {
  const int count = columns_of(width);
  const std::string left = counted(first), right = counted(last);
  const int blanks = count - static_cast<int>(left.size() + right.size());
  return {fmt::format("{:>{}}+{}", "", kLabel, std::string(static_cast<std::size_t>(count), '-')),
          fmt::format("{:>{}} {}{}{}", "step", kLabel, left,
                      std::string(static_cast<std::size_t>(std::max(blanks, 1)), ' '), right)};
}

}  // namespace gradlab::training_log
