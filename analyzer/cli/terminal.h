// Properties of the terminal, if standard output is one.
#pragma once

#include <cstddef>

namespace pitwall::cli {

bool outputIsTerminal();
// On a terminal, unless NO_COLOR or TERM=dumb forbids it.
bool colorWanted();
// Columns of the terminal; COLUMNS when it is set; 80 elsewhere.
std::size_t terminalWidth();

// For tables of the catalogue and the rules: the terminal's width, and elsewhere, where lines are searched
// rather than read, wide enough to truncate little.
int listWidth();

}  // namespace pitwall::cli
