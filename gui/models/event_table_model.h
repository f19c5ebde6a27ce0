// Events as a table that holds none of them: a row is a number, looked up when it is shown. Sorts and filters
// in the background.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/background.h"
#include "gui/models/event_order.h"

namespace pitwall::gui {

class EventTableModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kCategory, kTrack, kStart, kDuration, kDepth, kColumns };
  // More rows than a view can hold without cost; the order is that of all events.
  static constexpr std::size_t kMostRows = 1'000'000;

  using QAbstractTableModel::QAbstractTableModel;

  void setTimeline(std::shared_ptr<const Timeline> timeline);  // null: none
  // Emits ordered() when done.
  void setFilter(const std::string& words, std::optional<std::pair<TimeNs, TimeNs>> range);
  void sort(int column, Qt::SortOrder order) override;
  bool isBusy() const { return background_.isBusy(); }

  std::size_t found() const { return order_ ? order_->size() : 0; }  // including rows that are not shown
  EventRef refAt(int row) const;
  // All that were found, in order, for an export.
  std::shared_ptr<const EventNumbers> numbers() const { return numbers_; }
  std::shared_ptr<const std::vector<std::uint32_t>> order() const { return order_; }

  // Plain values of an event: text, or a number in ns.
  static QVariant value(const Timeline& timeline, const EventRef& ref, int column);
  static QString title(int column);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;  // UserRole: the value
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void asked();    // a new order is being computed
  void ordered();  // it is complete

 private:
  void ask();

  std::shared_ptr<const EventNumbers> numbers_;
  std::shared_ptr<const std::vector<std::uint32_t>> order_;
  EventQuestion question_;
  Background background_;
};

// Writes the events as CSV, numbers in ns; an empty text when done, otherwise the error.
QString writeEventsCsv(const QString& path, const EventNumbers& numbers,
                       const std::vector<std::uint32_t>& order, const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
