#include "clipping.hpp"

#include <math.h>

#include <stdexcept>

#define EPS 1e-6
#define FOR_EACH_GRAD(g, params)              \
  for (size_t i_ = 0; i_ < params.size(); i_++) \
    if (torch::Tensor g = params[i_].grad(); g.defined())

using namespace torch;
using namespace std;

double clipping::total_norm(const vector<Tensor>& parameters) {
  double s = 0.;
  FOR_EACH_GRAD(g, parameters) s += pow(norm(g.to(kDouble)).item<double>(), 2);
  return sqrt(s);
}

double clipping::clip_gradients(const vector<Tensor>& parameters, double max_norm) {
  double n = total_norm(parameters);
  if (n < max_norm) goto done;
  FOR_EACH_GRAD(g, parameters) g *= max_norm / (n + EPS);
done:
  return n;
}

double clipping::clip_gradients_checked(const vector<Tensor>& parameters, double max_norm) {
  double n = total_norm(parameters);
  if (!isfinite(n)) throw runtime_error("n is not finite");
  return clip_gradients(parameters, max_norm);
}

bool clipping::clip_after_warmup(const vector<Tensor>& parameters, double max_norm, int64_t step,
                                 int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}
