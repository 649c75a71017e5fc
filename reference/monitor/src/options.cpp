// The defaults of the plain rule set, and what each option may be.
#include "gradlab/monitor/options.hpp"

#include <cmath>
#include <sstream>

#include "errors.hpp"
#include "options_check.hpp"

namespace gradlab::monitor {
namespace {

std::string shown(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

void require(bool holds, const char* option, double was, const char* may_be) {
  if (!holds) throw errors::bad_option(option, shown(was), may_be);
}

void whole(const char* option, int64_t was, int64_t least) {
  const char* may_be = least == 0 ? "a whole number from 0" : "a whole number from 1";
  require(was >= least, option, static_cast<double>(was), may_be);
}

// NaN fails every comparison here; inf is a number above 0.
void positive(const char* option, double was) { require(was > 0, option, was, "a number above 0"); }

void at_least(const char* option, double was, double least, const char* may_be) {
  require(was >= least, option, was, may_be);
}

}  // namespace

Options Options::plain() {
  Options options;
  options.rules = Rules::kPlain;
  options.check_every = 50;
  return options;
}

void check(const Options& o) {
  whole("check_every", o.check_every, 1);
  whole("layers_every", o.layers_every, 0);
  whole("warmup", o.warmup, 0);
  positive("sigma", o.sigma);
  require(o.baseline_rate_floor > 0 && o.baseline_rate_floor <= 1, "baseline_rate_floor",
          o.baseline_rate_floor, "above 0 and at most 1");
  at_least("alarm_min_decades", o.alarm_min_decades, 0, "a number from 0");
  whole("alarm_confirmations", o.alarm_confirmations, 1);
  at_least("loss_spike_factor", o.loss_spike_factor, 1, "a number from 1");
  whole("layer_list_limit", o.layer_list_limit, 1);
  at_least("alarm_max_decades", o.alarm_max_decades, o.alarm_min_decades,
           "at least alarm_min_decades");
  positive("loss_sigma", o.loss_sigma);
  positive("drift_decades", o.drift_decades);
  require(o.drift_rate > 0 && o.drift_rate < 1, "drift_rate", o.drift_rate, "between 0 and 1");
  whole("relearn_after", o.relearn_after, 0);
  whole("skip_streak", o.skip_streak, 1);
  positive("scale_floor", o.scale_floor);
  whole("underflow_every", o.underflow_every, 0);
  require(o.underflow_share > 0 && o.underflow_share <= 1, "underflow_share", o.underflow_share,
          "above 0 and at most 1");
}

}  // namespace gradlab::monitor
