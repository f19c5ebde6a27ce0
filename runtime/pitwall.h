// Includes everything that a program needs for training and inference.
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
