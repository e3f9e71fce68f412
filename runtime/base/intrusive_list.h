// SPDX-License-Identifier: MIT
// List is a doubly linked list whose links stand in the elements: no allocation, removal in O(1)
// without knowing the list.
//
// Threads: none of its own; the lock of the list's owner guards the list and the links in it.
#pragma once

#include "runtime/base/check.h"

namespace shoal::core {

// Base of an element. `Tag` tells apart several lists that one element can stand in.
template <class Tag>
class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;

  [[nodiscard]] bool linked() const { return next_ != nullptr; }

  // REQUIRES: linked().
  void Unlink() {
    prev_->next_ = next_;
    next_->prev_ = prev_;
    next_ = prev_ = nullptr;
  }

 private:
  template <class T, class U>
  friend class List;
  ListLink* next_ = nullptr;
  ListLink* prev_ = nullptr;
};

// REQUIRES: T derives from ListLink<Tag>. Does not own its elements.
template <class T, class Tag>
class List {
 public:
  List() { head_.next_ = head_.prev_ = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    SHOAL_DCHECK(empty());
    head_.next_ = head_.prev_ = nullptr;
  }

  [[nodiscard]] bool empty() const { return head_.next_ == &head_; }
  // REQUIRES: not empty.
  [[nodiscard]] T& front() { return static_cast<T&>(*head_.next_); }

  void PushBack(T& element) { Insert(element, head_.prev_); }
  void PushFront(T& element) { Insert(element, &head_); }

  // Removes and returns the first element; nullptr if there is none.
  T* PopFront() {
    if (empty()) return nullptr;
    T& first = front();
    static_cast<Link&>(first).Unlink();
    return &first;
  }

  // The element behind `element`, nullptr at the end.
  T* Next(T& element) {
    Link* next = static_cast<Link&>(element).next_;
    return next == &head_ ? nullptr : static_cast<T*>(next);
  }

 private:
  using Link = ListLink<Tag>;
  static void Insert(Link& link, Link* after) {
    SHOAL_DCHECK(!link.linked());
    link.prev_ = after;
    link.next_ = after->next_;
    after->next_->prev_ = &link;
    after->next_ = &link;
  }
  Link head_;
};

}  // namespace shoal::core
