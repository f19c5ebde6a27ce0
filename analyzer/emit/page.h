// The style and the script of a report's page, made from analyzer/emit/page while building.
#pragma once

namespace pitwall::emit {

extern const char kPageStyle[];
extern const char kPageScript[];
extern const char kPageScriptHash[];  // of a Content-Security-Policy: "sha256-..."

}  // namespace pitwall::emit
