// All scalar functions of adjoint: one definition each, called by the reference loops and by every CPU kernel.
#pragma once

#include <adjoint/core/math/activation.h>
#include <adjoint/core/math/bits.h>
#include <adjoint/core/math/complex.h>
#include <adjoint/core/math/error_function.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/gamma.h>
#include <adjoint/core/math/hyperbolic.h>
#include <adjoint/core/math/inverse_trig.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/math/power.h>
#include <adjoint/core/math/rounding.h>
#include <adjoint/core/math/trig.h>
