// What SQL from outside may do to an open trace: read everything, and make and fill temp tables.
#pragma once

namespace pitwall::store {

class TraceData;

// Holds as long as the connection; statements prepared while data.user_statement are judged.
void installAuthorizer(TraceData& data);

}  // namespace pitwall::store
