// Events whose name contains a text.
#pragma once

#include <atomic>
#include <string>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

// Ignores the case of ASCII letters.
bool containsText(const std::string& text, const std::string& part);

// Which names match, by StringId.value; ignores the case of ASCII letters. An empty text matches none.
std::vector<bool> matchingNames(const Timeline& timeline, const std::string& text);
// The same of any names, by their place.
std::vector<bool> matchingNames(const std::vector<std::string>& names, const std::string& text);

// The next (or previous) event with such a name, in order of start over all tracks, from `from` on; begins
// again at the other end. nullopt: there is none.
std::optional<EventRef> findEvent(const Timeline& timeline, const std::vector<bool>& names,
                                  const std::optional<EventRef>& from, bool forward);

// How many there are.
std::size_t countEvents(const Timeline& timeline, const std::vector<bool>& names);

}  // namespace pitwall::gui
