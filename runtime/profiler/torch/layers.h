// The layer (module of the program) in which a thread is: of PyTorch's operators that begin meanwhile.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::torch {

// 0 = no layer. A layer has one name for ever; a number without a name is none.
using LayerNumber = std::int32_t;

void nameLayer(LayerNumber layer, const char* name);
std::string nameOfLayer(LayerNumber layer);

// Of the calling thread. Leaving a layer also leaves those that were entered within it, as after an exception.
void enterLayer(LayerNumber layer);
void leaveLayer(LayerNumber layer);
LayerNumber currentLayer();

}  // namespace pitwall::torch
