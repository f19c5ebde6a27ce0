// Background work, for the latest request only: a new request, or the end of its owner, cancels the one
// before.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <atomic>
#include <memory>
#include <utility>

namespace pitwall::gui {

class Background {
 public:
  Background() = default;
  ~Background() { cancel(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Calls work(const std::atomic<bool>& cancel) on another thread and then(answer) on this one; then() is not
  // called when cancel() or another ask() comes first, nor when this object is gone.
  template <class Work, class Then>
  void ask(Work work, Then then) {
    cancel();
    flag_ = std::make_shared<std::atomic<bool>>(false);
    QThreadPool::globalInstance()->start([flag = flag_, work = std::move(work), then = std::move(then)]() {
      if (flag->load()) return;
      // Shared, as results may be large and functions are copied.
      auto answer = std::make_shared<decltype(work(*flag))>(work(*flag));
      QMetaObject::invokeMethod(
          QCoreApplication::instance(),
          [flag, then, answer] {
            if (!flag->exchange(true)) then(std::move(*answer));
          },
          Qt::QueuedConnection);
    });
  }

  void cancel() {
    if (flag_) flag_->store(true);
  }
  bool isBusy() const { return flag_ && !flag_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;  // true: cancelled or finished
};

}  // namespace pitwall::gui
