// Annotations that say which lock guards a member and which locks a function needs. Clang checks them at
// compile time (-Wthread-safety); other compilers see nothing. db/mutex.h has the locks that they name.
#pragma once

#if defined(__clang__)
#define PITWALL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PITWALL_THREAD_ANNOTATION(x)
#endif

// A class that is a lock, with its kind as messages show it; a class that holds a lock while it lives.
#define PITWALL_CAPABILITY(kind) PITWALL_THREAD_ANNOTATION(capability(kind))
#define PITWALL_SCOPED_CAPABILITY PITWALL_THREAD_ANNOTATION(scoped_lockable)

// A member that is used only with the lock held; a pointer whose target is.
#define PITWALL_GUARDED_BY(lock) PITWALL_THREAD_ANNOTATION(guarded_by(lock))
#define PITWALL_PT_GUARDED_BY(lock) PITWALL_THREAD_ANNOTATION(pt_guarded_by(lock))

// A function that is called with the locks held; without them, because it takes them itself.
#define PITWALL_REQUIRES(...) PITWALL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define PITWALL_EXCLUDES(...) PITWALL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// A function that takes locks, releases them, takes one when it returns `result`, is known to run with one held,
// or returns one.
#define PITWALL_ACQUIRE(...) PITWALL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define PITWALL_RELEASE(...) PITWALL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define PITWALL_TRY_ACQUIRE(...) PITWALL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define PITWALL_ASSERT_HELD(lock) PITWALL_THREAD_ANNOTATION(assert_capability(lock))
#define PITWALL_RETURN_CAPABILITY(lock) PITWALL_THREAD_ANNOTATION(lock_returned(lock))

// A function that Clang cannot check, such as one that takes a number of locks known only at run time. A comment
// there says why it is safe.
#define PITWALL_NO_THREAD_SAFETY_ANALYSIS PITWALL_THREAD_ANNOTATION(no_thread_safety_analysis)
