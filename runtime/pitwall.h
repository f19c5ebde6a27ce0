// Everything that a program needs to train and infer.
#pragma once

#include "runtime/autograd.h"
#include "runtime/data.h"
#include "runtime/metrics.h"
#include "runtime/ndarray.h"
#include "runtime/nn.h"
#include "runtime/operators.h"
#include "runtime/optimizer.h"
#include "runtime/progress.h"
#include "runtime/session.h"
