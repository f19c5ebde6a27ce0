// The conventions of one program that writes Chrome Trace Event files, for formats that have their row in the
// table of formats.
#pragma once

#include "db/import/build/builder.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/chrome/place.h"
#include "db/import/input/window.h"

namespace pitwall::import {

class ChromeDialect {
 public:
  virtual ~ChromeDialect() = default;

  // Called for each event; false leaves it to the general meaning of its phase.
  virtual bool take(const ChromeEvent& event, const Place& place) = 0;
  // Called after the last event, also of a damaged file: sets the input's format and clock.
  virtual void end() = 0;
};

// Reads a file whose events `dialect` interprets. Errors: as a reader's.
Status readChromeAs(Window& window, const ImportOptions& options, Builder& builder, ChromeDialect& dialect);

}  // namespace pitwall::import
