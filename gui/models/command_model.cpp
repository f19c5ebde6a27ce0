#include "gui/models/command_model.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

// Names and rows that are compared for one typed letter; a trace may have millions.
constexpr std::size_t kMostLookedAt = 100'000;
constexpr int kLongestCompared = 200;

using Scored = std::pair<int, Command>;

void keep(std::vector<Scored>& found, const QString& typed, Command command) {
  const int score = fuzzyScore(command.text, typed);
  if (score <= 0) return;
  // At the same score actions come before places to go to.
  const int bonus = command.kind == Command::Kind::action ? 2 : command.kind == Command::Kind::row ? 1 : 0;
  found.emplace_back(score * 4 + bonus, std::move(command));
}

}  // namespace

int fuzzyScore(const QString& text, const QString& typed) {
  if (typed.isEmpty()) return 1;
  const qsizetype whole = text.indexOf(typed, 0, Qt::CaseInsensitive);
  if (whole >= 0) {
    const bool begins_word = whole == 0 || !text[whole - 1].isLetterOrNumber();
    return (begins_word ? 2000 : 1000) - static_cast<int>(std::min<qsizetype>(text.size(), 900));
  }
  int score = 100;
  qsizetype at = 0;
  for (const QChar c : typed) {
    if (c.isSpace()) continue;
    const qsizetype next = text.indexOf(c, at, Qt::CaseInsensitive);
    if (next < 0) return 0;
    const bool begins_word = next == 0 || !text[next - 1].isLetterOrNumber();
    score +=
        (next == at ? 5 : 0) + (begins_word ? 8 : 0) - static_cast<int>(std::min<qsizetype>(next - at, 10));
    at = next + 1;
  }
  return std::clamp(score, 1, 900);
}

void CommandModel::setActions(std::vector<Command> actions) {
  actions_ = std::move(actions);
  setText({});
}

void CommandModel::setTimeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  setText({});
}

void CommandModel::setText(const QString& typed) {
  beginResetModel();
  shown_.clear();
  if (typed.startsWith(':')) {
    shown_.push_back({Command::Kind::sql, 0, typed.mid(1).trimmed(), {}, tr("query the trace with SQL")});
  } else {
    std::vector<Scored> found;
    for (const Command& action : actions_) keep(found, typed, action);
    if (timeline_ && !typed.isEmpty()) {
      const std::size_t tracks = std::min(timeline_->tracks.size(), kMostLookedAt);
      for (std::size_t track = 0; track < tracks; ++track) {
        const TimelineTrack& of = timeline_->tracks[track];
        keep(found, typed,
             {Command::Kind::row,
              track,
              QString::fromStdString(of.title),
              {},
              tr("row of %1").arg(QString::fromStdString(timeline_->processes[of.process].title))});
      }
      const std::size_t names = std::min(timeline_->names.size(), kMostLookedAt);
      for (std::size_t name = 1; name < names; ++name) {
        if (timeline_->names[name].empty()) continue;
        keep(found, typed,
             {Command::Kind::name,
              name,
              QString::fromStdString(timeline_->names[name].substr(0, kLongestCompared)),
              {},
              tr("event")});
      }
    }
    const auto better = [](const Scored& a, const Scored& b) { return a.first > b.first; };
    if (!typed.isEmpty()) std::stable_sort(found.begin(), found.end(), better);
    for (std::size_t i = 0; i < std::min(found.size(), typed.isEmpty() ? actions_.size() : kMostShown); ++i)
      shown_.push_back(std::move(found[i].second));
  }
  endResetModel();
}

int CommandModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant CommandModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Command& shown = command(index.row());
  switch (role) {
    case Qt::DisplayRole: return shown.text;
    case Qt::AccessibleTextRole:
      return shown.text + ", " + shown.where + (shown.keys.isEmpty() ? QString() : ", " + shown.keys);
    case kKeys: return shown.keys;
    case kWhere: return shown.where;
    default: return {};
  }
}

}  // namespace pitwall::gui
