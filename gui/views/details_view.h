// Facts of the selected event, name and value.
#pragma once

#include <QTreeWidget>

#include "gui/models/trace_session.h"

namespace pitwall::gui {

class DetailsView final : public QTreeWidget {
  Q_OBJECT
 public:
  explicit DetailsView(QWidget* parent = nullptr);
  void setDetails(const Details& details);
  void copyAll() const;  // as text with tabs
};

}  // namespace pitwall::gui
