// The whole library. Narrower includes compile faster.
#pragma once

#include "gradlab/amp/autocast.hpp"
#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/error.hpp"
#include "gradlab/amp/fused.hpp"
#include "gradlab/amp/grad_scaler.hpp"
#include "gradlab/amp/observer.hpp"
#include "gradlab/amp/state.hpp"
