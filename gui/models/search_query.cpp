#include "gui/models/search_query.h"

#include <algorithm>
#include <map>

#include "db/try.h"
#include "gui/timeline/search.h"

namespace pitwall::gui {
namespace {

double nanosecondsOf(const QString& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "ns" ? 1 : 1e3;
}

void takeDurations(QString& text, SearchQuery& query) {
  static const QRegularExpression kTerm(
      "(?:^|(?<=\\s))dur\\s*(>=|<=|>|<)\\s*([0-9]+(?:\\.[0-9]*)?)\\s*(ns|us|\u00b5s|ms|s)(?=\\s|$)",
      QRegularExpression::CaseInsensitiveOption);
  for (auto match = kTerm.match(text); match.hasMatch(); match = kTerm.match(text)) {
    const double exact = match.captured(2).toDouble() * nanosecondsOf(match.captured(3).toLower());
    const auto ns = static_cast<TimeNs>(std::min(exact, 9e18));
    const QString sign = match.captured(1);
    if (sign.startsWith('>')) query.least_ns = sign == ">" ? ns + 1 : ns;
    if (sign.startsWith('<')) query.most_ns = sign == "<" ? ns - 1 : ns;
    text.remove(match.capturedStart(), match.capturedLength());
  }
}

void takeKey(QString& text, const QString& key, QString& value) {
  const QRegularExpression term("(?:^|(?<=\\s))" + key + ":(?:\"([^\"]*)\"|(\\S+))");
  const auto match = term.match(text);
  if (!match.hasMatch()) return;
  value = match.captured(1) + match.captured(2);
  text.remove(match.capturedStart(), match.capturedLength());
}

// Whether an operator is of the layer, by OperatorId.value; [0] is no operator.
std::vector<bool> operatorsOf(const Trace& trace, const std::string& layer) {
  std::vector<bool> of{false};
  for (const OperatorFacts& facts : trace.operatorFacts()) of.push_back(containsText(facts.layer, layer));
  return of;
}

// Events with their operator and arguments.
class TraceSearch {
 public:
  TraceSearch(const Trace& trace, const Timeline& timeline, const SearchQuery& query)
      : trace_(trace),
        timeline_(timeline),
        layer_(query.layer.toStdString()),
        argument_(query.argument.toStdString()),
        operators_(operatorsOf(trace, layer_)),
        filter_(filterOf(query, timeline)) {}

  EventFields fields() const {
    EventFields fields = kStart | kDur | kName;
    if (!layer_.empty()) fields = fields | kOperator;
    if (!argument_.empty()) fields = fields | kArgs;
    return fields;
  }
  void add(std::size_t track, const EventSpans& spans, std::vector<EventRef>& found) {
    for (std::size_t i = 0; i < spans.size; ++i) {
      const auto name = static_cast<std::size_t>(spans.name[i]);
      const TimeNs dur = spans.dur_ns[i];
      if (name >= filter_.names.size() || !filter_.names[name]) continue;
      if (dur < filter_.least_ns || dur > filter_.most_ns) continue;
      if (!layer_.empty() && !operators_[static_cast<std::size_t>(spans.op[i])]) continue;
      if (!argument_.empty() && !hasArgument(static_cast<std::uint32_t>(spans.args[i]))) continue;
      addCalled(track, spans.start_ns[i], dur, name, found);
    }
  }

 private:
  bool hasArgument(std::uint32_t id) {
    const auto [known, is_new] = with_argument_.try_emplace(id, false);
    if (is_new && id != 0) known->second = containsText(trace_.string(StringId{id}), argument_);
    return known->second;
  }
  // Events of the same times may be nested: the name distinguishes them.
  void addCalled(std::size_t track, TimeNs start, TimeNs dur, std::size_t name,
                 std::vector<EventRef>& found) const {
    const auto& lanes = timeline_.tracks[track].lanes;
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      for (std::size_t i = lanes[l].firstAt(start); i < lanes[l].size() && lanes[l].startNs(i) == start;
           ++i) {
        if (lanes[l].durNs(i) == dur && lanes[l].name(i) == name) return found.push_back({track, l, i});
      }
    }
  }

  const Trace& trace_;
  const Timeline& timeline_;
  const std::string layer_, argument_;
  const std::vector<bool> operators_;
  const SearchFilter filter_;
  std::map<std::uint32_t, bool> with_argument_;
};

}  // namespace

bool SearchQuery::isEmpty() const {
  return name.isEmpty() && !pattern && !least_ns && !most_ns && isOfTimeline();
}

SearchQuery parseSearch(const QString& typed) {
  SearchQuery query;
  QString text = typed;
  takeDurations(text, query);
  takeKey(text, "layer", query.layer);
  takeKey(text, "arg", query.argument);
  text = text.trimmed();
  if (text.size() > 2 && text.startsWith('/') && text.endsWith('/')) {
    query.pattern =
        QRegularExpression(text.mid(1, text.size() - 2), QRegularExpression::CaseInsensitiveOption);
    if (!query.pattern->isValid()) query.error = query.pattern->errorString();
  } else {
    query.name = text;
  }
  return query;
}

SearchFilter filterOf(const SearchQuery& query, const Timeline& timeline) {
  SearchFilter filter;
  if (query.pattern) {
    filter.names.assign(timeline.names.size(), false);
    for (std::size_t id = 1; id < filter.names.size(); ++id) {
      const std::string& name = timeline.names[id];
      filter.names[id] = !name.empty() && query.pattern->match(QString::fromStdString(name)).hasMatch();
    }
  } else if (query.name.isEmpty()) {
    filter.names.assign(timeline.names.size(), !query.isEmpty());
  } else {
    filter.names = matchingNames(timeline, query.name.toStdString());
  }
  filter.least_ns = query.least_ns.value_or(INT64_MIN);
  filter.most_ns = query.most_ns.value_or(INT64_MAX);
  return filter;
}

Result<std::shared_ptr<const SearchHits>> searchEvents(Trace* trace, std::shared_ptr<const Timeline> timeline,
                                                       const SearchQuery& query,
                                                       const std::atomic<bool>& cancel) {
  if (query.isOfTimeline() || trace == nullptr)
    return std::make_shared<const SearchHits>(findHits(timeline, filterOf(query, *timeline), cancel));
  auto hits = std::make_shared<SearchHits>(timeline);
  TraceSearch search(*trace, *timeline, query);
  for (std::size_t t = 0; t < timeline->tracks.size(); ++t) {
    if (timeline->tracks[t].lanes.empty()) continue;
    std::vector<EventRef> found;
    Status status = trace->eventColumns({.track = timeline->tracks[t].id, .fields = search.fields()},
                                        [&](const EventSpans& spans) {
                                          search.add(t, spans, found);
                                          return !cancel.load();
                                        });
    PITWALL_TRY(status);
    std::ranges::sort(found, {}, [](const EventRef& e) { return std::pair(e.lane, e.index); });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const EventRef& event : found) hits->add(event);
  }
  return std::shared_ptr<const SearchHits>(std::move(hits));
}

}  // namespace pitwall::gui
