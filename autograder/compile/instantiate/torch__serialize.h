#include "attributes.hpp"
