// What a user can do about a file that cannot be written.
#pragma once

namespace pitwall {

// The remedy for an errno, as the last part of a message: "choose another path".
const char* writeRemedy(int error);

}  // namespace pitwall
