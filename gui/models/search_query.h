// What the user typed into the search field: a part of the name, and terms that narrow it.
//
//   conv                 the name contains it, ignoring case
//   /conv[12]$/          the name matches the regular expression, ignoring case
//   dur > 5ms            also >=, <, <=; units ns, us, ms, s
//   layer:fc1            the operator's layer contains it
//   arg:4096             an argument contains it; with blanks: arg:"a b"
#pragma once

#include <QRegularExpression>
#include <QString>
#include <optional>

#include "gui/timeline/search_hits.h"

namespace pitwall::gui {

struct SearchQuery {
  QString name;
  std::optional<QRegularExpression> pattern;
  std::optional<TimeNs> least_ns, most_ns;  // of the duration
  QString layer, argument;
  QString error;  // empty: none

  bool isEmpty() const;
  // By the columns of the timeline alone.
  bool isOfTimeline() const { return layer.isEmpty() && argument.isEmpty(); }
};

SearchQuery parseSearch(const QString& text);

// Names and durations.
SearchFilter filterOf(const SearchQuery& query, const Timeline& timeline);

// Reads `trace` for layers and arguments only. Errors: those of reading.
Result<std::shared_ptr<const SearchHits>> searchEvents(Trace* trace, std::shared_ptr<const Timeline> timeline,
                                                       const SearchQuery& query,
                                                       const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
